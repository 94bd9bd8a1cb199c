import { InvalidArgumentError } from 'commander'

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `90s`, `5m`, `1h30m`, `1500ms` to milliseconds. */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit ?? '']!, 0)
  if (parts.map(([part]) => part).join('') !== text || !(total >= 1)) {
    throw new InvalidArgumentError('Give a duration such as 90s, 5m or 1h30m.')
  }
  return Math.round(total)
}

const SPANS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `30m`, `12h`, `7d` before now, or a date with or without a time, to epoch milliseconds. */
export function parseSince(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const span = SPANS[unit]
  if (span !== undefined) return Date.now() - Number(count) * span
  // A date alone is a day here, not one in Greenwich.
  const local = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text
  const time = /^\d{4}-/.test(text) ? Date.parse(local) : Number.NaN
  if (Number.isNaN(time)) throw new InvalidArgumentError('Give 7d, 12h, 30m or a date: 2026-11-30.')
  return time
}

export function parseCount(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('Give a whole number from 1 on.')
  }
  return value
}

/** US dollars. */
export function parseCost(text: string): number {
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || !(value > 0)) {
    throw new InvalidArgumentError('Give an amount of US dollars such as 0.5.')
  }
  return value
}

export function collect(value: string, before: readonly string[]): string[] {
  return [...before, value]
}
