import { toolCallsOf } from '../message/index.ts'
import type { Fact } from './event.ts'
import { asText, mendCalls } from './mend-calls.ts'
import type { TurnState } from './session.ts'
import { toolCall, toolResult } from './tool-events.ts'
import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  stepEnd,
  stepStart,
  turnEnd,
  turnStart,
} from './turn-events.ts'

export const NO_TURN: TurnState = Object.freeze({
  turn: 0,
  open: false,
  step: 0,
  stepOpen: false,
  attempt: 0,
  attemptOpen: false,
  unanswered: Object.freeze([]),
})

/** Folds one fact into the state of the turn; the same object when it changes nothing. */
export function foldTurn(state: TurnState, fact: Fact): TurnState {
  const change = changeOf(state, fact)
  return change ? Object.freeze({ ...state, ...change }) : state
}

type Open = TurnState['unanswered']

const ended = { stepOpen: false, attempt: 0, attemptOpen: false }

function changeOf(state: TurnState, fact: Fact): Partial<TurnState> | undefined {
  if (turnStart.is(fact)) {
    // Within a turn that nobody has ended its start is no place where history may be cut.
    const since = state.open ? undefined : fact.seq
    return { ...ended, turn: fact.data.turn, since, open: true, step: 0 }
  }
  if (turnEnd.is(fact)) return { ...ended, open: false, lastEnd: fact.data.reason }
  if (stepStart.is(fact)) return { ...ended, step: fact.data.step, stepOpen: true }
  if (stepEnd.is(fact)) return { stepOpen: false, attemptOpen: false }
  if (attemptStart.is(fact)) return { attempt: fact.data.attempt, attemptOpen: true }
  if (attemptFailed.is(fact)) return { attemptOpen: false }
  if (assistantMessage.is(fact)) {
    const calls = toolCallsOf(mendCalls(fact.data.message))
    const unanswered = calls.map(({ id, name }) => ({ callId: id, name, dispatched: false }))
    return { attemptOpen: false, unanswered: Object.freeze(unanswered) }
  }
  if (toolCall.is(fact)) return dispatch(state.unanswered, fact.data.callId)
  if (toolResult.is(fact)) return answer(state.unanswered, fact.data.callId)
  return undefined
}

/** Of calls that share an id the first one that waits is meant: ids repeat, calls do not. */
function dispatch(open: Open, callId: string): Partial<TurnState> | undefined {
  const index = open.findIndex((call) => asText(call.callId) === callId && !call.dispatched)
  const call = open[index]
  if (!call) return undefined
  return { unanswered: Object.freeze(open.with(index, { ...call, dispatched: true })) }
}

function answer(open: Open, callId: string): Partial<TurnState> | undefined {
  const index = open.findIndex((call) => asText(call.callId) === callId)
  return index < 0 ? undefined : { unanswered: Object.freeze(open.toSpliced(index, 1)) }
}
