import type { Usage } from '@cordage/core/message'
import { assistantMessage, attemptFailed, type Fact } from '@cordage/core/session'

/** What a call of a model was for. `retry`: an attempt at a step after its first one. */
export type Purpose = 'step' | 'retry' | 'summary' | 'title' | 'other'

/** What one fact says that a call of a model took. */
export interface Expense {
  readonly purpose: Purpose
  /** `<provider>/<model id>`, where the fact says it. */
  readonly model: string | undefined
  readonly usage: Usage | undefined
  /** Absent without a price. */
  readonly costUsd: number | undefined
  readonly failed: boolean
  /** How long it took, where the fact says it. */
  readonly ms: number | undefined
}

const sources = new Map<unknown, Purpose>([
  ['context_compression', 'summary'],
  ['title', 'title'],
])

/**
 * Attempts at steps, and what any other fact says in `spent`, or in `usage` itself. What stands in
 * a log may be of another version, a stranger's or damaged: what is no count is none.
 */
export function expenseOf(fact: Fact): Expense | undefined {
  const data = recordIn(fact.data)
  if (assistantMessage.is(fact)) {
    const { source } = recordIn(data['message'])
    const failed = data['interrupted'] === true
    return { ...read(data), purpose: stepOrRetry(data), model: nameIn(recordIn(source)), failed }
  }
  if (attemptFailed.is(fact)) {
    return { ...read(data), purpose: stepOrRetry(data), model: undefined, failed: true }
  }
  const spent = 'spent' in data ? recordIn(data['spent']) : data
  const known = read(spent)
  if (known.usage === undefined) return undefined
  const purpose = sources.get(spent['source']) ?? purposeOf(fact.type)
  return { ...known, purpose, model: nameIn(spent), failed: 'error' in data }
}

function stepOrRetry({ attempt }: Record<string, unknown>): Purpose {
  return typeof attempt === 'number' && attempt > 1 ? 'retry' : 'step'
}

function purposeOf(type: string): Purpose {
  if (type.startsWith('compaction/')) return 'summary'
  return type.startsWith('session/title') ? 'title' : 'other'
}

export function nameIn({ provider, model }: Record<string, unknown>): string | undefined {
  return typeof provider === 'string' && typeof model === 'string'
    ? `${provider}/${model}`
    : undefined
}

function read(data: Record<string, unknown>): Pick<Expense, 'usage' | 'costUsd' | 'ms'> {
  return {
    usage: usageIn(data['usage']),
    costUsd: countIn(data['costUsd']),
    ms: countIn(data['ms']),
  }
}

function usageIn(value: unknown): Usage | undefined {
  const { inputTokens, outputTokens, estimated, ...rest } = recordIn(value)
  const [input, output] = [countIn(inputTokens), countIn(outputTokens)]
  if (input === undefined || output === undefined) return undefined
  const names = ['cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const
  const counts = names.flatMap((name) => {
    const count = countIn(rest[name])
    return count === undefined ? [] : [[name, count]]
  })
  const note = estimated === true ? { estimated } : {}
  return { inputTokens: input, outputTokens: output, ...Object.fromEntries(counts), ...note }
}

/** As the ledger takes figures: one below nothing is nothing. */
function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : undefined
}

export function recordIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
