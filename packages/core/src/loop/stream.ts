import { isHarnessError } from '../error/index.ts'
import {
  createAssembler,
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

/** How far an attempt came when it failed or was cancelled. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError'
  readonly partial: Answer
  override readonly cause: unknown

  constructor(cause: unknown, partial: Answer) {
    super('an attempt failed', { cause })
    this.cause = cause
    this.partial = partial
  }
}

/**
 * Reads one answer to its end. Rejects with `AttemptError` when the stream fails, ends without a
 * finish, is silent for too long or is cancelled; what a cancelled adapter still yields is dropped.
 */
export async function readAnswer(
  run: TurnRun,
  model: ResolvedModel,
  send: { request: ModelRequest; body: unknown; step: number; attempt: number },
): Promise<Answer> {
  const { signal, config, agent, turn, index } = run
  const assembler = createAssembler({
    model: `${model.provider}/${model.model}`,
    isTaken: (id) => index.at(agent.session.surface).calls.has(id),
  })
  const inner = new AbortController()
  const stop = () => inner.abort(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()

  let lastEventAt = performance.now()
  let left = false
  const idle = setInterval(
    () => {
      if (performance.now() - lastEventAt < config.streamIdleTimeoutMs) return
      inner.abort(modelError('TIMEOUT', { model: `${model.provider}/${model.model}` }))
    },
    Math.max(10, config.streamIdleTimeoutMs / 4),
  )

  const pump = async () => {
    const { request, body, step, attempt } = send
    for await (const event of model.route.stream(request, body, { signal: inner.signal })) {
      if (left) return
      lastEventAt = performance.now()
      assembler.push(event)
      const delta = deltaOf(event, assembler)
      if (delta) agent.session.delta({ turn, step, attempt, ...delta })
    }
  }
  try {
    const graceMs = config.cancelGraceMs
    await bounded(pump(), 'The model stream', { signal: inner.signal, graceMs })
    inner.signal.throwIfAborted()
    const answer = assembler.finish()
    if (answer.finish === undefined) {
      throw modelError('STREAM_CLOSED', { model: `${model.provider}/${model.model}` })
    }
    return answer
  } catch (error) {
    const reason = inner.signal.reason
    throw new AttemptError(isHarnessError(reason) ? reason : error, assembler.finish())
  } finally {
    left = true
    clearInterval(idle)
    signal.removeEventListener('abort', stop)
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
