import type { ModelChoice } from '@cordage/core/agent'
import { textOf, type Message, type Usage } from '@cordage/core/message'
import {
  approvalAsked,
  approvalDecided,
  assistantMessage,
  attemptFailed,
  attemptStart,
  compactionEnd,
  compactionSummary,
  inboxSplice,
  requestContext,
  requestHeader,
  sessionComposition,
  sessionDirectory,
  stepStart,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  userMessage,
  type Fact,
  type FactOf,
} from '@cordage/core/session'

type DataOf<Definition> = FactOf<Definition>['data']

/** One try of a request and what came of it; nothing, where the process died. */
export interface RecordedAttempt {
  readonly start: FactOf<typeof attemptStart>
  answer?: DataOf<typeof assistantMessage>
  failure?: DataOf<typeof attemptFailed>
}

export interface RecordedCall {
  asked?: DataOf<typeof approvalAsked>
  decided?: DataOf<typeof approvalDecided>
  result?: DataOf<typeof toolResult>
  /** Where the call took the session. */
  cwd?: string
}

export interface RecordedStep {
  readonly step: number
  /** What entered the conversation with it, in order. */
  readonly messages: Message[]
  readonly attempts: RecordedAttempt[]
  /** The model and what was asked of it; absent where the step came to no request. */
  choice?: ModelChoice
  readonly calls: Map<string, RecordedCall>
  /** What came into the inbox while the step ran. */
  readonly inbox: DataOf<typeof inboxSplice>[]
}

export interface RecordedTurn {
  readonly turn: number
  /** The place of `turn/start`. */
  readonly seq: number
  readonly steps: Map<number, RecordedStep>
  end?: DataOf<typeof turnEnd>
  /** What summaries were made of, in order: nothing where a model could not make one. */
  readonly summaries: { readonly id: string; text?: string; usage?: Usage }[]
  /** What it was run with, where the log says so. */
  composition?: DataOf<typeof sessionComposition>
}

/** The turns of a log, with the answers, results and decisions that a replay gives again. */
export function readTurns(facts: readonly Fact[]): RecordedTurn[] {
  const reader = new TurnReader()
  for (const fact of facts) reader.add(fact)
  return reader.turns
}

class TurnReader {
  readonly turns: RecordedTurn[] = []
  #step: RecordedStep | undefined
  #lastCall: RecordedCall | undefined
  #composition: RecordedTurn['composition']
  #header: DataOf<typeof requestHeader> | undefined
  #context: DataOf<typeof requestContext> | undefined

  add(fact: Fact): void {
    if (requestHeader.is(fact)) this.#header = fact.data
    if (requestContext.is(fact)) this.#context = fact.data
    if (turnStart.is(fact)) this.#begin(fact)
    if (sessionComposition.is(fact)) this.#compose(fact)
    const turn = this.turns.at(-1)
    if (!turn || turn.end) return
    addSummary(turn, fact)
    if (turnEnd.is(fact)) turn.end = fact.data
    else if (stepStart.is(fact)) {
      const { step } = fact.data
      this.#step = { step, messages: [], attempts: [], calls: new Map(), inbox: [] }
      turn.steps.set(step, this.#step)
    } else if (this.#step) this.#addToStep(this.#step, fact)
  }

  #begin({ seq, data }: FactOf<typeof turnStart>): void {
    this.#step = undefined
    const composition = this.#composition ? { composition: this.#composition } : {}
    this.turns.push({ turn: data.turn, seq, steps: new Map(), summaries: [], ...composition })
  }

  #compose({ data }: FactOf<typeof sessionComposition>): void {
    this.#composition = data
    const turn = this.turns.at(-1)
    if (turn && !turn.end) turn.composition = data
  }

  #addToStep(step: RecordedStep, fact: Fact): void {
    const attempt = step.attempts.at(-1)
    if (attemptStart.is(fact)) {
      step.attempts.push({ start: fact })
      Object.assign(step, this.#choice())
    } else if (userMessage.is(fact)) step.messages.push(fact.data.message)
    else if (assistantMessage.is(fact) && attempt) attempt.answer = fact.data
    else if (attemptFailed.is(fact) && attempt) attempt.failure = fact.data
    else if (inboxSplice.is(fact) && fact.data.cause !== 'claim') step.inbox.push(fact.data)
    else this.#addToCall(step, fact)
  }

  /** With the limit of an answer only where somebody had asked for a lower one. */
  #choice(): { choice?: ModelChoice } {
    if (!this.#header) return {}
    const { provider, model, params, insteadOf } = this.#header
    if (insteadOf) return { choice: insteadOf }
    const { maxTokens, ...rest } = params
    const asked = maxTokens !== undefined && maxTokens !== this.#context?.maxTokens
    return {
      choice: { model: `${provider}/${model}`, params: asked ? { ...rest, maxTokens } : rest },
    }
  }

  #addToCall({ calls }: RecordedStep, fact: Fact): void {
    if (toolCall.is(fact)) calls.set(fact.data.callId, (this.#lastCall = {}))
    else if (toolResult.is(fact)) {
      const { callId } = fact.data
      calls.set(callId, Object.assign(calls.get(callId) ?? {}, { result: fact.data }))
    } else if (approvalAsked.is(fact)) {
      const call = calls.get(fact.data.callId ?? '')
      if (call) call.asked = fact.data
    } else if (approvalDecided.is(fact)) {
      const call = [...calls.values()].find(({ asked }) => asked?.id === fact.data.id)
      if (call) call.decided = fact.data
    } else if (sessionDirectory.is(fact) && this.#lastCall) this.#lastCall.cwd = fact.data.cwd
  }
}

/** A compaction that only cut results asked no model. */
function addSummary({ summaries }: RecordedTurn, fact: Fact): void {
  if (compactionSummary.is(fact)) {
    summaries.push({ id: fact.data.id, text: textOf(fact.data.message) })
  } else if (compactionEnd.is(fact)) {
    const { id, error, spent } = fact.data
    const made = summaries.find((summary) => summary.id === id)
    if (made && spent) made.usage = spent.usage
    else if (made) delete made.text
    else if (error) summaries.push({ id, ...(spent ? { usage: spent.usage } : {}) })
  }
}
