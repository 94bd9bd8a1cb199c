import {
  attemptStart,
  requestHeader,
  sessionChild,
  stepStart,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  type Fact,
} from '@cordage/core/session'
import { expenseOf, nameIn, recordIn, type Purpose } from './expense.ts'
import { addSpend, countSpend, NO_SPEND, type Spend } from './spend.ts'

export interface ToolSpend {
  readonly calls: number
  readonly errors: number
  readonly ms: number
}

export interface Tallied {
  readonly turns: number
  readonly steps: number
  /** Time in which a turn ran: models, tools, waits and what lies between. */
  readonly wallMs: number
  readonly total: Spend
  /** By `provider/model`. */
  readonly models: ReadonlyMap<string, Spend>
  readonly purposes: ReadonlyMap<Purpose, Spend>
  /** By day here, as `2026-11-30`. */
  readonly days: ReadonlyMap<string, Spend>
  readonly tools: ReadonlyMap<string, ToolSpend>
  /** By the session of a child, the tool whose call it works on. */
  readonly childTools: ReadonlyMap<string, string>
}

/** Of a call of which the log does not say who answered. */
export const UNKNOWN_MODEL = 'unknown'

/** Adds up what facts, given in order, say was spent; how long the log is makes it no larger. */
export class Tally implements Tallied {
  turns = 0
  steps = 0
  wallMs = 0
  total = NO_SPEND
  readonly models = new Map<string, Spend>()
  readonly purposes = new Map<Purpose, Spend>()
  readonly days = new Map<string, Spend>()
  readonly tools = new Map<string, ToolSpend>()
  readonly childTools = new Map<string, string>()
  #route = UNKNOWN_MODEL
  #begun = 0
  /** Of the last fact of the turn that runs. */
  #at: number | undefined
  readonly #running = new Map<string, { readonly name: string; readonly time: number }>()

  /** What `fact` spent, which is counted unless `counts` is false: it may still say who spends. */
  add(fact: Fact, counts = true): Spend | undefined {
    const passed = this.#follow(fact)
    if (counts) {
      this.wallMs += passed
      if (turnStart.is(fact)) this.turns += 1
      if (stepStart.is(fact)) this.steps += 1
      if (toolResult.is(fact)) this.#addResult(fact)
    }
    if (toolResult.is(fact)) this.#running.delete(String(recordIn(fact.data)['callId']))
    const expense = expenseOf(fact)
    if (!expense) return undefined
    const { usage, costUsd, failed, purpose, model = this.#route } = expense
    const ms = expense.ms ?? this.#waited(purpose, fact.time)
    if (!counts) return undefined
    const spend: Spend = {
      calls: 1,
      failed: failed ? 1 : 0,
      usage: usage ?? NO_SPEND.usage,
      costUsd: costUsd ?? 0,
      unpriced: costUsd !== undefined || usage === undefined ? 0 : 1,
      ms,
    }
    this.total = addSpend(this.total, spend)
    countSpend(this.models, model, spend)
    countSpend(this.purposes, purpose, spend)
    countSpend(this.days, dayOf(fact.time), spend)
    return spend
  }

  /** What was added so far is counted elsewhere. */
  restart(): void {
    this.turns = this.steps = this.wallMs = 0
    this.total = NO_SPEND
    for (const counted of [this.models, this.purposes, this.days, this.tools]) counted.clear()
  }

  /** Gives how long the turn went on until `fact`. */
  #follow(fact: Fact): number {
    const { time } = fact
    const data = recordIn(fact.data)
    const { name, callId, session } = data
    if (requestHeader.is(fact)) this.#route = nameIn(data) ?? UNKNOWN_MODEL
    if (attemptStart.is(fact)) this.#begun = time
    if (toolCall.is(fact)) this.#running.set(String(callId), { name: String(name), time })
    if (sessionChild.is(fact)) {
      const tool = this.#running.get(String(callId))?.name
      if (tool !== undefined) this.childTools.set(String(session), tool)
    }
    const passed = this.#at === undefined ? 0 : Math.max(0, time - this.#at)
    if (turnEnd.is(fact)) {
      this.#at = undefined
      this.#running.clear()
    } else if (turnStart.is(fact) || this.#at !== undefined) this.#at = time
    return passed
  }

  #addResult({ data, time }: Fact): void {
    const { name, callId, durationMs, part } = recordIn(data)
    const begun = this.#running.get(String(callId))?.time
    const waited = begun === undefined ? 0 : Math.max(0, time - begun)
    const ms = typeof durationMs === 'number' && durationMs >= 0 ? durationMs : waited
    const tool = String(name)
    const before = this.tools.get(tool) ?? { calls: 0, errors: 0, ms: 0 }
    const errors = before.errors + (recordIn(part)['isError'] === true ? 1 : 0)
    this.tools.set(tool, { calls: before.calls + 1, errors, ms: before.ms + ms })
  }

  #waited(purpose: Purpose, time: number): number {
    if (purpose !== 'step' && purpose !== 'retry') return 0
    const ms = this.#begun === 0 ? 0 : Math.max(0, time - this.#begun)
    this.#begun = 0
    return ms
  }
}

function dayOf(time: number): string {
  const date = new Date(time)
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((n) => String(n).padStart(2, '0'))
  return `${date.getFullYear()}-${month}-${day}`
}
