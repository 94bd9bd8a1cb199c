import { setImmediate as nextTurnOfLoop } from 'node:timers/promises'
import { isHarnessError } from '../error/index.ts'
import {
  type Assembler,
  modelError,
  type ModelEvent,
  type ModelRequest,
  type ResolvedModel,
} from '../model/index.ts'
import type { LiveDelta } from '../session/index.ts'
import type { Answer } from './answer.ts'
import { bounded } from './bounded.ts'
import type { TurnRun } from './run.ts'
import { limitStream, type StreamLimits } from './stream-limits.ts'

/** A stream whose events are all there already would keep timers, signals and sockets waiting. */
const MAX_EVENTS_AT_ONCE = 256

/** Why an attempt is over that nobody cancelled: an error of its own would cost its stack. */
export const OVER = 'the attempt is over'

/** One try of a request, and what has come of it so far. */
export interface Attempt {
  readonly request: ModelRequest
  readonly body: unknown
  readonly digest: string
  readonly step: number
  readonly attempt: number
  readonly assembler: Assembler
  /** Aborted when nobody waits for the attempt any more: what still comes is dropped. */
  readonly over: AbortController
}

/**
 * Reads one answer to its end. Rejects when the stream fails, ends without a finish, is silent or
 * goes on for too long or is cancelled; what a cancelled adapter still yields is dropped.
 */
export async function readAnswer(
  run: TurnRun,
  model: ResolvedModel,
  attempt: Attempt,
): Promise<Answer> {
  const { assembler, over } = attempt
  const name = `${model.provider}/${model.model}`
  // A hook that was left behind may still come to this.
  run.signal.throwIfAborted()
  over.signal.throwIfAborted()
  const limits = limitStream(run, name)
  const { signal } = limits
  try {
    const read = () => pump(run, model, attempt, limits)
    await bounded({ ...run, signal }, 'The model stream', read)
    signal.throwIfAborted()
    const answer = assembler.finish()
    if (answer.finish === undefined) throw modelError('STREAM_CLOSED', { model: name })
    return answer
  } catch (error) {
    throw isHarnessError(signal.reason) ? signal.reason : error
  } finally {
    over.abort(OVER)
    limits.stop()
  }
}

async function pump(
  { agent, turn }: TurnRun,
  { route }: ResolvedModel,
  { request, body, step, attempt, assembler, over }: Attempt,
  { signal, heard }: StreamLimits,
): Promise<void> {
  let count = 0
  for await (const event of route.stream(request, body, { signal })) {
    if (over.signal.aborted) return
    heard()
    assembler.push(event)
    const delta = deltaOf(event, assembler)
    if (delta) agent.session.delta({ turn, step, attempt, ...delta })
    count += 1
    if (count % MAX_EVENTS_AT_ONCE === 0) await nextTurnOfLoop()
  }
}

function deltaOf(
  event: ModelEvent,
  assembler: Assembler,
): Omit<LiveDelta, 'turn' | 'step' | 'attempt'> | undefined {
  if (event.type === 'text' || event.type === 'reasoning') {
    return { kind: event.type, text: event.text }
  }
  if (event.type !== 'tool-call') return undefined
  const call = assembler.call(event.index)
  const named = call ? { callId: call.id, name: call.name } : {}
  return { kind: 'tool-call', text: event.arguments ?? '', ...named }
}
