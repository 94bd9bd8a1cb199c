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
