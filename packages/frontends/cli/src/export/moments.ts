import type { ImagePart, TextPart } from '@cordage/core/message'
import { toolCallsOf } from '@cordage/core/message'
import {
  assistantMessage,
  attemptStart,
  coreEvent,
  inboxSplice,
  requestContext,
  requestHeader,
  stepEnd,
  stepStart,
  toolCall,
  toolResult,
  type Fact,
  type FactOf,
} from '@cordage/core/session'

/** A call with what came of it, at the time when it was made. */
export interface CallMoment {
  readonly kind: 'call'
  readonly time: number
  readonly callId: string
  readonly name: string
  readonly arguments: string
  readonly result?: FactOf<typeof toolResult>['data']
}

/** What a reader of a session sees, in the order in which it happened. */
export type Moment = CallMoment | { readonly kind: 'fact'; readonly fact: Fact }

export type ResultContent = readonly (TextPart | ImagePart)[]

/** Bookkeeping that says nothing to people. */
const silent = new Set(
  [stepStart, stepEnd, attemptStart, requestHeader, requestContext, inboxSplice].map(
    ({ type }) => type,
  ),
)

/**
 * Facts as moments: calls are told with their results, in the order of the calls. Types that
 * nobody here knows come through, to be shown as unknown.
 */
export class Moments {
  #calls: CallMoment[] = []
  /** Calls of the last answer: one that was never started has no `tool/call`. */
  #asked = new Map<string, string>()

  /** The moments that are complete with this fact. */
  add(fact: Fact): Moment[] {
    if (toolCall.is(fact)) {
      const { callId, name, arguments: given } = fact.data
      this.#calls.push({ kind: 'call', time: fact.time, callId, name, arguments: given })
      return []
    }
    if (toolResult.is(fact)) {
      this.#answer(fact)
      return []
    }
    if (silent.has(fact.type) && !stepEnd.is(fact)) return []
    const moments = isBetween(fact) ? [] : this.end()
    if (assistantMessage.is(fact)) {
      const calls = toolCallsOf(fact.data.message)
      this.#asked = new Map(calls.map(({ id, arguments: given }) => [id, given]))
    }
    return silent.has(fact.type) ? moments : [...moments, { kind: 'fact', fact }]
  }

  /** What is left when there are no more facts. */
  end(): Moment[] {
    const calls = this.#calls
    this.#calls = []
    return calls
  }

  #answer({ data, time }: FactOf<typeof toolResult>): void {
    const { callId, name } = data
    const open = this.#calls.findIndex((call) => call.callId === callId && !call.result)
    const call = this.#calls[open]
    if (call) this.#calls[open] = { ...call, result: data }
    else {
      const given = this.#asked.get(callId) ?? ''
      this.#calls.push({ kind: 'call', time, callId, name, arguments: given, result: data })
    }
  }
}

/** Whether it may come between a call and its result, and so must not part them. */
function isBetween({ type }: Fact): boolean {
  const [family = ''] = type.split('/')
  return ['approval', 'session'].includes(family) || coreEvent(type) === undefined
}
