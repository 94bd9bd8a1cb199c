import type { Usage } from '@cordage/core/message'
import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  requestHeader,
  stepStart,
  toolCall,
  toolResult,
  turnStart,
  type Fact,
} from '@cordage/core/session'
import { addSpend, NO_SPEND, type Spend } from './spend.ts'

/** What a call of a model was for. `retry`: it failed, and another try took its place. */
export type Purpose = 'step' | 'retry' | 'summary' | 'title' | 'other'

export interface ToolSpend {
  readonly calls: number
  readonly errors: number
  readonly ms: number
}

export interface Tallied {
  readonly turns: number
  readonly steps: number
  readonly total: Spend
  /** By `provider/model`. */
  readonly models: ReadonlyMap<string, Spend>
  readonly purposes: ReadonlyMap<Purpose, Spend>
  readonly tools: ReadonlyMap<string, ToolSpend>
}

/** What one fact says was spent. */
export interface Expense {
  readonly purpose: Purpose
  readonly model: string
  readonly spend: Spend
}

/** Of a call of which the log does not say who answered. */
export const UNKNOWN_MODEL = 'unknown'

/** Adds up what facts, given in order, say was spent. */
export class Tally implements Tallied {
  turns = 0
  steps = 0
  total = NO_SPEND
  readonly models = new Map<string, Spend>()
  readonly purposes = new Map<Purpose, Spend>()
  readonly tools = new Map<string, ToolSpend>()
  #route = UNKNOWN_MODEL
  #begun = 0
  readonly #running = new Map<string, number>()

  /** What `fact` spent, which is counted unless `counts` is false: it may still say who spends. */
  add(fact: Fact, counts = true): Expense | undefined {
    this.#follow(fact)
    if (!counts) return undefined
    if (turnStart.is(fact)) this.turns += 1
    if (stepStart.is(fact)) this.steps += 1
    if (toolResult.is(fact)) this.#addResult(fact.data, fact.time)
    const expense = this.#expenseOf(fact)
    if (!expense) return undefined
    const { model, purpose, spend } = expense
    this.total = addSpend(this.total, spend)
    this.models.set(model, addSpend(this.models.get(model) ?? NO_SPEND, spend))
    this.purposes.set(purpose, addSpend(this.purposes.get(purpose) ?? NO_SPEND, spend))
    return expense
  }

  #follow(fact: Fact): void {
    if (requestHeader.is(fact)) this.#route = `${fact.data.provider}/${fact.data.model}`
    if (attemptStart.is(fact)) this.#begun = fact.time
    if (toolCall.is(fact)) this.#running.set(fact.data.callId, fact.time)
  }

  #addResult(
    data: {
      name: string
      callId: string
      durationMs?: unknown
      error?: unknown
      part: { isError: boolean }
    },
    time: number,
  ): void {
    const begun = this.#running.get(data.callId)
    this.#running.delete(data.callId)
    const waited = begun === undefined ? 0 : Math.max(0, time - begun)
    const ms = typeof data.durationMs === 'number' ? data.durationMs : waited
    const before = this.tools.get(data.name) ?? { calls: 0, errors: 0, ms: 0 }
    const errors = before.errors + (data.part.isError ? 1 : 0)
    this.tools.set(data.name, { calls: before.calls + 1, errors, ms: before.ms + ms })
  }

  #expenseOf(fact: Fact): Expense | undefined {
    if (assistantMessage.is(fact)) {
      const { source } = fact.data.message
      const model = source.kind === 'model' ? `${source.provider}/${source.model}` : this.#route
      return { purpose: 'step', model, spend: this.#spendOf(fact, this.#waited(fact)) }
    }
    if (attemptFailed.is(fact)) {
      return {
        purpose: 'retry',
        model: this.#route,
        spend: this.#spendOf(fact, this.#waited(fact)),
      }
    }
    // Other callers of models, plugins among them, say in the same members what they spent.
    if (usageOf(fact) === undefined) return undefined
    return { purpose: purposeOf(fact.type), model: this.#route, spend: this.#spendOf(fact, 0) }
  }

  #waited({ time }: Fact): number {
    const ms = this.#begun === 0 ? 0 : Math.max(0, time - this.#begun)
    this.#begun = 0
    return ms
  }

  #spendOf(fact: Fact, ms: number): Spend {
    const usage = usageOf(fact)
    const costUsd = (fact.data as { costUsd?: unknown }).costUsd
    const priced = typeof costUsd === 'number'
    return {
      calls: 1,
      usage: usage ?? NO_SPEND.usage,
      costUsd: priced ? costUsd : 0,
      unpriced: priced || usage === undefined ? 0 : 1,
      ms,
    }
  }
}

function usageOf({ data }: Fact): Usage | undefined {
  if (typeof data !== 'object' || data === null || !('usage' in data)) return undefined
  const usage = data.usage as Partial<Usage> | null | undefined
  const counts = [usage?.inputTokens, usage?.outputTokens]
  return counts.every((count) => Number.isFinite(count)) ? (usage as Usage) : undefined
}

function purposeOf(type: string): Purpose {
  if (type.startsWith('compaction/')) return 'summary'
  return type.startsWith('session/title') ? 'title' : 'other'
}
