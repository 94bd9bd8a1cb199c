import { describe, expect, it } from 'vitest'
import { parseCost, parseCount, parseDuration } from '../src/commands/arguments.ts'
import { isTypo } from '../src/commands/typo.ts'

describe('a duration', () => {
  it.each([
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1500ms', 1500],
    ['0.5s', 500],
  ])('%s is %i ms', (text, ms) => expect(parseDuration(text)).toBe(ms))

  it.each(['', '90', '-5s', '5 m', '1d', 's', '0s', '5m!', '1e3s', '٣s'])('%j is none', (text) => {
    expect(() => parseDuration(text)).toThrow(/90s/)
  })
})

describe('numbers of limits', () => {
  it.each(['0', '-1', '1.5', '1e3', '', ' 1', '99999999999999999999', 'NaN'])(
    '%j is no count',
    (text) => expect(() => parseCount(text)).toThrow(/whole number/),
  )

  it.each(['0', '-1', '1e3', '$1', '', 'Infinity'])('%j is no cost', (text) => {
    expect(() => parseCost(text)).toThrow(/dollars/)
  })

  it('take what is one', () => {
    expect([parseCount('12'), parseCost('0.25')]).toEqual([12, 0.25])
  })
})

describe('a typo', () => {
  it.each(['sesions', 'sessionss', 'sessoins', 'zessions', 'session'])('%s is one', (word) => {
    expect(isTypo(word, 'sessions')).toBe(true)
  })

  it.each(['sessions', 'ssesion', 'seasons!', 'essay', 'sessio'])('%s is none', (word) => {
    expect(isTypo(word, 'sessions')).toBe(false)
  })
})
