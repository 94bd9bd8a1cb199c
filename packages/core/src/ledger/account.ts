import { assert } from '../kernel/index.ts'
import { addUsage, NO_USAGE, type Usage } from '../message/index.ts'
import { ledgerError } from './errors.ts'
import type { Account, Limits, Reservation, Totals } from './ledger.ts'

const nothing: Totals = { steps: 0, toolCalls: 0, usage: NO_USAGE, costUsd: 0, unpriced: false }

/** Opens an account below `parent`, whose remaining budget bounds `own`. */
export function createAccount(id: string, parent: Account | undefined, own: Limits): Account {
  const limits = shrink(own, parent)
  let totals = nothing
  let closed = false

  const account: Account = {
    id,
    parent,
    limits,
    get totals() {
      return totals
    },
    reserve(what) {
      assert(!closed, `account ${id} is closed, so nothing can be reserved`)
      for (const each of chain(account)) refuseBeyond(each, what)
      for (const each of chain(account)) countsOf(each).add(what)
    },
    settle(usage, costUsd) {
      const tokens = countable(usage)
      const cost = costUsd === undefined ? undefined : amount(costUsd)
      for (const each of chain(account)) countsOf(each).settle(tokens, cost)
    },
    close() {
      closed = true
    },
  }
  counts.set(account, {
    add: (what) => {
      if (what === 'step') totals = { ...totals, steps: totals.steps + 1 }
      if (what === 'tool-call') totals = { ...totals, toolCalls: totals.toolCalls + 1 }
    },
    settle: (usage, costUsd) => {
      totals = {
        ...totals,
        usage: addUsage(totals.usage, usage),
        costUsd: totals.costUsd + (costUsd ?? 0),
        unpriced: totals.unpriced || costUsd === undefined,
      }
    },
  })
  return account
}

// One figure that is no number, or a negative one, would lift every limit above it.
function countable(usage: Usage): Usage {
  const counted = Object.entries(usage).map(([key, value]) => {
    return [key, key === 'estimated' ? value : amount(value)]
  })
  return { ...NO_USAGE, ...Object.fromEntries(counted) }
}

function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : 0
}

interface Counts {
  add(what: Reservation): void
  settle(usage: Usage, costUsd: number | undefined): void
}

/** How an account counts what is spent below it, kept out of what its holders can call. */
const counts = new WeakMap<Account, Counts>()

function countsOf(account: Account): Counts {
  const own = counts.get(account)
  assert(own, `account ${account.id} was not opened by this ledger`)
  return own
}

function* chain(account: Account): Generator<Account> {
  for (let at: Account | undefined = account; at; at = at.parent) yield at
}

function refuseBeyond(account: Account, what: Reservation): void {
  const { limits, totals } = account
  const refuse = (limit: keyof Limits): never => {
    throw ledgerError('BUDGET_EXCEEDED', { limit }, { details: { account: account.id } })
  }
  if (limits.deadline !== undefined && Date.now() >= limits.deadline) refuse('deadline')
  if (reached(limits.maxTokens, tokensOf(totals))) refuse('maxTokens')
  if (reached(limits.maxCostUsd, totals.costUsd)) refuse('maxCostUsd')
  if (what === 'step' && reached(limits.maxSteps, totals.steps)) refuse('maxSteps')
  if (what === 'tool-call' && reached(limits.maxToolCalls, totals.toolCalls)) refuse('maxToolCalls')
}

function reached(limit: number | undefined, used: number): boolean {
  return limit !== undefined && used >= limit
}

function tokensOf({ usage }: Totals): number {
  return usage.inputTokens + usage.outputTokens
}

/** The smaller of each limit and what the parent has left of it now. */
function shrink(own: Limits, parent: Account | undefined): Limits {
  if (!parent) return Object.freeze({ ...own })
  const { limits, totals } = parent
  const left: Record<keyof Limits, number | undefined> = {
    maxSteps: minus(limits.maxSteps, totals.steps),
    maxTokens: minus(limits.maxTokens, tokensOf(totals)),
    maxCostUsd: minus(limits.maxCostUsd, totals.costUsd),
    maxToolCalls: minus(limits.maxToolCalls, totals.toolCalls),
    deadline: limits.deadline,
  }
  const result: { -readonly [K in keyof Limits]: number } = {}
  for (const key of Object.keys(left) as (keyof Limits)[]) {
    const bound = smaller(own[key], left[key])
    if (bound !== undefined) result[key] = bound
  }
  return Object.freeze(result)
}

function minus(limit: number | undefined, used: number): number | undefined {
  return limit === undefined ? undefined : Math.max(0, limit - used)
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b
  return b === undefined ? a : Math.min(a, b)
}
