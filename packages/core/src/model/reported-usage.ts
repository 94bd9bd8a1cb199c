import type { Usage } from '../message/index.ts'

/** The figures of a `Usage` as somebody else reported them. */
export type ReportedUsage = { readonly [K in keyof Usage]?: unknown }

const details = ['cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

/**
 * The usage that a route reported. Figures that count nothing are left out; `undefined` where the
 * input or the output is one of them, or both are zero, so that the whole is estimated instead.
 */
export function readUsage(reported: ReportedUsage): Usage | undefined {
  const inputTokens = readTokens(reported.inputTokens)
  const outputTokens = readTokens(reported.outputTokens)
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  if (inputTokens === 0 && outputTokens === 0) return undefined
  const given = details.flatMap((key) => {
    const tokens = readTokens(reported[key])
    return tokens === undefined ? [] : [[key, tokens] as const]
  })
  const estimated = reported.estimated === true ? { estimated: true } : {}
  return { inputTokens, outputTokens, ...Object.fromEntries(given), ...estimated }
}

/** A number of tokens, or `undefined` for what cannot be one. */
export function readTokens(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
