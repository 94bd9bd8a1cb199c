/** One line of the report: what was measured how often, in which unit. */
export interface Row {
  readonly name: string
  readonly unit: 'ms' | 'us' | 'MB' | 'lines' | 'tokens'
  readonly samples: readonly number[]
  /** Samples of the same kind for a bare `node -e 0`, measured in turn with these. */
  readonly bare?: readonly number[]
}

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export function printRow({ name, unit, samples, bare }: Row): string {
  const figure = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(2)).padStart(9)
  const ratio = bare ? `${(median(samples) / median(bare)).toFixed(2)} x node` : ''
  const cells = [figure(Math.min(...samples)), figure(median(samples)), unit.padEnd(6)]
  return `${name.padEnd(44)} ${String(samples.length).padStart(4)} ${cells.join(' ')} ${ratio}`
}
