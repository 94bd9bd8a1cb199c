import { addUsage, NO_USAGE, type Usage } from '@cordage/core/message'

/** What calls of models came to. */
export interface Spend {
  /** Attempts, those that failed among them. */
  readonly calls: number
  readonly failed: number
  readonly usage: Usage
  /** Of the calls that have a price. */
  readonly costUsd: number
  /** Calls without one: `costUsd` is too low by them. */
  readonly unpriced: number
  /** Time that was waited for answers. */
  readonly ms: number
}

export const NO_SPEND: Spend = {
  calls: 0,
  failed: 0,
  usage: NO_USAGE,
  costUsd: 0,
  unpriced: 0,
  ms: 0,
}

export function addSpend(a: Spend, b: Spend): Spend {
  return {
    calls: a.calls + b.calls,
    failed: a.failed + b.failed,
    usage: addUsage(a.usage, b.usage),
    costUsd: a.costUsd + b.costUsd,
    unpriced: a.unpriced + b.unpriced,
    ms: a.ms + b.ms,
  }
}

/** Adds to what a map has at `key`. */
export function countSpend<Key>(spends: Map<Key, Spend>, key: Key, spend: Spend): void {
  spends.set(key, addSpend(spends.get(key) ?? NO_SPEND, spend))
}

/** Dollars with as many digits as they need, or a dash where no call had a price. */
export function costText({ costUsd, unpriced }: Spend): string {
  if (costUsd === 0 && unpriced > 0) return '-'
  const digits = costUsd >= 1 ? 2 : 4
  return `${unpriced > 0 ? '>' : ''}$${costUsd.toFixed(digits)}`
}

/** Tokens that a cache had, and their share of the input: `4,000 (40%)`. */
export function cachedText({ inputTokens, cacheReadTokens = 0 }: Usage): string {
  if (cacheReadTokens === 0 || inputTokens === 0) return countText(cacheReadTokens)
  return `${countText(cacheReadTokens)} (${Math.round((cacheReadTokens / inputTokens) * 100)}%)`
}

/** `1.2s`, `3m 20s`, `2h 5m`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < 60) return `${Math.floor(ms / 60_000)}m ${Math.floor((ms % 60_000) / 1000)}s`
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

export function countText(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}
