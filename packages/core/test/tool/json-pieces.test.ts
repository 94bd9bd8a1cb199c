import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonBytes, jsonPieces } from '../../src/tool/json-pieces.ts'

const CHARS = 2 ** 20

it('is the JSON of any value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const json = JSON.stringify(value)
      expect([...jsonPieces(value)].join('')).toBe(json)
      expect(jsonBytes({ value, none: undefined }).toString()).toBe(`{"value":${json}}`)
    }),
  )
})

it.each(['😀', '"', '\ud800', '里'])('comes in pieces that cut no %j in two', (mark) => {
  for (const before of [CHARS - 2, CHARS - 1, CHARS]) {
    const value = { lines: ['a'.repeat(before) + mark.repeat(3), 'b'] }
    const pieces = [...jsonPieces(value)]
    expect(pieces.length).toBeGreaterThan(1)
    expect(pieces.join('')).toBe(JSON.stringify(value))
    expect(jsonBytes(value).equals(Buffer.from(JSON.stringify(value)))).toBe(true)
  }
})

it('makes no piece much longer than a megabyte', () => {
  const value = ['x'.repeat(5 * CHARS), Array<string>(200_000).fill('some words')]
  const lengths = [...jsonPieces(value)].map(({ length }) => length)
  expect(Math.max(...lengths)).toBeLessThan(2.1 * CHARS)
})
