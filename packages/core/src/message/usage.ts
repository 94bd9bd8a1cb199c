/**
 * Tokens of one model call, after the provider's own count. `inputTokens` includes the cached
 * ones; `outputTokens` includes reasoning. `estimated` marks figures that no provider reported.
 */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
  readonly estimated?: boolean
}

/** US dollars for a million tokens of each kind. A missing cache price means the input price. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 }

/** Adds two counts; a kind that neither reports stays absent. */
export function addUsage(a: Usage, b: Usage): Usage {
  const optional = {
    cacheReadTokens: sumOf(a.cacheReadTokens, b.cacheReadTokens),
    cacheWriteTokens: sumOf(a.cacheWriteTokens, b.cacheWriteTokens),
    reasoningTokens: sumOf(a.reasoningTokens, b.reasoningTokens),
  }
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...Object.fromEntries(Object.entries(optional).filter(([, tokens]) => tokens !== undefined)),
    ...(a.estimated || b.estimated ? { estimated: true } : {}),
  }
}

function sumOf(x?: number, y?: number): number | undefined {
  return x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0)
}

/** The cost of a call in US dollars, or `undefined` where the route declares no price. */
export function costOf(usage: Usage, price: Price | undefined): number | undefined {
  if (!price) return undefined
  const read = usage.cacheReadTokens ?? 0
  const written = usage.cacheWriteTokens ?? 0
  const fresh = Math.max(0, usage.inputTokens - read - written)
  const dollars =
    fresh * price.input +
    read * (price.cacheRead ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    usage.outputTokens * price.output
  return dollars / 1_000_000
}
