/** Reading of what other programs wrote: what is not as expected is as if it were not there. */
export type Loose = Readonly<Record<string, unknown>>

const NOTHING: Loose = {}

export function recordIn(value: unknown): Loose {
  return isRecord(value) ? value : NOTHING
}

export function isRecord(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Any value as words to show: `String` calls what a record of a stranger names `toString`. */
export function wordsIn(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none')
}

export function countIn(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}

/** Epoch milliseconds, given as such or as a date. */
export function timeIn(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value
  return typeof time === 'number' && Number.isSafeInteger(Math.round(time)) && time >= 0
    ? Math.round(time)
    : undefined
}

/** Arguments of a call as JSON text, whether they are kept as text or as a value. */
export function argumentsIn(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '{}')
}
