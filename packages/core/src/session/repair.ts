import { describe } from '../error/index.ts'
import { compactionEnd } from './compaction-events.ts'
import { sessionError } from './errors.ts'
import type { NewFact } from './event.ts'
import { asText } from './mend-calls.ts'
import type { LiveDelta, TurnState } from './session.ts'
import { toolResult } from './tool-events.ts'
import { attemptFailed, stepEnd, turnEnd, type Failure } from './turn-events.ts'

export interface RepairInput {
  readonly turn: TurnState
  readonly openCompactions: readonly string[]
  /** What the live lane still held; anything else among it is passed over. */
  readonly live: readonly unknown[]
  readonly newId: () => string
}

const STOPPED = describe(sessionError('INTERRUPTED'))

/**
 * The facts that close what a dead process left open. Repeated after they are logged it gives
 * none: repairing twice, or being killed while repairing, adds nothing.
 */
export function repairFacts(input: RepairInput): NewFact[] {
  const { turn, step, open, stepOpen, attempt, attemptOpen } = input.turn
  const facts = missingResults(input.turn, input.newId, (name, dispatched) => {
    return dispatched ? unknownOutcome(name) : notStarted(name)
  })
  if (attemptOpen) {
    const partial = partialText(input)
    facts.push(
      attemptFailed({
        turn,
        step,
        attempt,
        error: { ...STOPPED, retryable: true },
        ...(partial === '' ? {} : { partial }),
      }),
    )
  }
  for (const id of input.openCompactions) facts.push(compactionEnd({ id, error: STOPPED }))
  if (stepOpen) facts.push(stepEnd({ turn, step }))
  if (open) facts.push(turnEnd({ turn, reason: 'interrupted' }))
  return facts
}

/** An error for each call that has no result; `errorOf` says which, by the name of the tool. */
export function missingResults(
  state: TurnState,
  newId: () => string,
  errorOf: (name: string, dispatched: boolean) => Failure,
): NewFact[] {
  return state.unanswered.map((call) => {
    // An old log, or its snapshot, may hold what a server sent instead of texts.
    const callId = asText(call.callId)
    const name = asText(call.name)
    const { dispatched } = call
    const error = errorOf(name, dispatched)
    return toolResult({
      turn: Math.max(1, state.turn),
      step: Math.max(1, state.step),
      callId,
      name,
      messageId: newId(),
      part: {
        type: 'tool-result',
        callId,
        name,
        content: [{ type: 'text', text: `${error.code}: ${error.message}` }],
        isError: true,
      },
      error,
    })
  })
}

function notStarted(name: string) {
  const message =
    `The process stopped before this call of ${name} was started. It has had no effect; ` +
    'call it again if it is still needed.'
  return { code: 'TOOL_NOT_STARTED', message }
}

function unknownOutcome(name: string) {
  const message =
    `The process stopped while this call of ${name} was running. Whether it took effect, wholly ` +
    'or in part, and what it returned are unknown. Look at the present state before repeating it.'
  return { code: 'TOOL_OUTCOME_UNKNOWN', message }
}

function partialText({ turn: { turn, step, attempt }, live }: RepairInput): string {
  return live
    .filter(isLiveDelta)
    .filter((delta) => delta.turn === turn && delta.step === step && delta.attempt === attempt)
    .filter((delta) => delta.kind === 'text')
    .map((delta) => delta.text)
    .join('')
}

/** Of the lines of a live lane, which may hold anything. */
export function isLiveDelta(line: unknown): line is LiveDelta {
  return (
    typeof line === 'object' && line !== null && 'text' in line && typeof line.text === 'string'
  )
}
