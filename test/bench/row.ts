/** One line of the report: what was measured how often, in which unit. */
export interface Row {
  readonly name: string
  readonly unit: 'ms' | 'us' | 'MB' | 'KB' | 'lines' | 'tokens' | 'packages' | '%'
  readonly samples: readonly number[]
  /** Samples of what these are compared with, measured in turn with them: a bare `node -e 0`. */
  readonly bare?: readonly number[]
  /** Says in a word or two what `bare` is, where it is something else. */
  readonly than?: string
  /** What the median, its ratio to that of `bare`, or the greatest may be at most; the least at least. */
  readonly limit?: { readonly of: 'median' | 'ratio' | 'max' | 'min'; readonly at: number }
}

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Whether a row keeps to its limit; one without a limit does. */
export function passes({ limit, samples, bare }: Row): boolean {
  if (limit === undefined) return true
  if (limit.of === 'min') return Math.min(...samples) >= limit.at
  return figureOf(limit.of, samples, bare) <= limit.at
}

/** Why a report is none: rows that are missing or were not measured, and those outside their limit. */
export function problemsOf(rows: readonly Row[], wanted: readonly string[]): string[] {
  const usable = rows.filter(({ samples }) => samples.length > 0 && samples.every(Number.isFinite))
  const names = new Set(usable.map(({ name }) => name))
  const missing = wanted.filter((name) => !names.has(name))
  const over = rows.filter((row) => !passes(row)).map(({ name }) => name)
  return [
    ...(missing.length > 0 ? [`These rows are missing: ${missing.join('; ')}`] : []),
    ...(over.length > 0 ? [`Outside their limit: ${over.join('; ')}`] : []),
  ]
}

function figureOf(
  of: 'median' | 'ratio' | 'max',
  samples: readonly number[],
  bare?: readonly number[],
) {
  if (of === 'max') return Math.max(...samples)
  return of === 'median' ? median(samples) : median(samples) / median(bare ?? [])
}

export function printRow(row: Row): string {
  const { name, unit, samples, bare, limit, than = 'node' } = row
  const figure = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(2)).padStart(9)
  const ratio = bare ? `${(median(samples) / median(bare)).toFixed(2)} x ${than}` : ''
  const bound =
    limit &&
    `${limit.of === 'min' ? '>=' : '<='} ${limit.at} ${limit.of === 'ratio' ? `x ${than}` : unit}`
  const most = limit?.of === 'max' ? `at most ${figure(Math.max(...samples)).trim()}` : ratio
  const verdict = bound ? `${bound.padEnd(16)} ${passes(row) ? 'PASS' : 'FAIL'}` : ''
  const cells = [figure(Math.min(...samples)), figure(median(samples)), unit.padEnd(8)]
  const head = `${name.padEnd(44)} ${String(samples.length).padStart(4)} ${cells.join(' ')}`
  return `${head} ${most.padEnd(16)} ${verdict}`.trimEnd()
}
