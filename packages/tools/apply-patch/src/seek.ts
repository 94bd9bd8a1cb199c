type Reading = (line: string) => string

const readings: readonly Reading[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
]

export interface SeekOptions {
  readonly from: number
  /** The match nearest to this line wins; without it the first. */
  readonly near: number | undefined
  readonly atEnd: boolean
}

/** The index at which `wanted` stands in `have`, by the strictest reading that finds it; or -1. */
export function findLines(
  have: readonly string[],
  wanted: readonly string[],
  options: SeekOptions,
): number {
  for (const read of readings) {
    const at = findRead(have.map(read), wanted.map(read), options)
    if (at >= 0) return at
  }
  return -1
}

/** The first line from `from` on that is `anchor`, or else starts with it; or -1. */
export function findAnchor(have: readonly string[], anchor: string, from: number): number {
  const whole = findLines(have, [anchor], { from, near: undefined, atEnd: false })
  if (whole >= 0) return whole
  const wanted = anchor.trim()
  return have.findIndex((line, index) => index >= from && line.trim().startsWith(wanted))
}

function findRead(
  have: readonly string[],
  wanted: readonly string[],
  { from, near, atEnd }: SeekOptions,
): number {
  const end = have.length - wanted.length
  const matches = (at: number) => wanted.every((line, index) => have[at + index] === line)
  if (atEnd && end >= from && matches(end)) return end
  let best = -1
  for (let at = from; at <= end; at += 1) {
    if (!matches(at)) continue
    if (near === undefined) return at
    if (best < 0 || Math.abs(at - near) < Math.abs(best - near)) best = at
  }
  return best
}
