import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical, frozenJson } from '@cordage/core/session'

test('any JSON value comes back equal and frozen to the last member', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = frozenJson(value)
      expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
      if (typeof copy === 'object' && copy !== null) {
        expect(Object.isFrozen(copy)).toBe(true)
        for (const member of Object.values(copy)) {
          if (typeof member === 'object' && member !== null)
            expect(Object.isFrozen(member)).toBe(true)
        }
      }
    }),
  )
})

test('members that are undefined are left out and the source is left alone', () => {
  const source = { a: undefined, b: [{ c: 1 }] }
  expect(Object.keys(frozenJson(source) as object)).toEqual(['b'])
  source.b.push({ c: 2 })
  expect(source.b).toHaveLength(2)
})

test.each([
  ['NaN', { a: [1, { b: Number.NaN }] }, 'a.1.b is NaN'],
  ['infinity', { a: Infinity }, 'a is Infinity'],
  ['a BigInt', { a: 1n }, 'a is of type bigint'],
  ['a function', { a: () => 1 }, 'a is of type function'],
  ['a symbol', { a: Symbol('s') }, 'a is of type symbol'],
  ['a hole', { a: Array(2) }, 'a.0 is of type undefined'],
  ['a date', { a: new Date(0) }, 'a is not a plain object'],
  ['a map', { a: new Map() }, 'a is not a plain object'],
  ['bytes', { a: new Uint8Array(2) }, 'a is not a plain object'],
  ['nothing', undefined, 'its data is of type undefined'],
])('%s is refused with its place', (_, value, message) => {
  expect(() => frozenJson(value)).toThrow(message)
})

test('a cycle is refused, one object in two places is not', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = { cycle }
  expect(() => frozenJson(cycle)).toThrow('self.cycle contains itself')
  const twice = { n: 1 }
  expect(frozenJson({ a: twice, b: twice })).toEqual({ a: { n: 1 }, b: { n: 1 } })
})

test('a value that is nested without end is refused instead of overflowing the stack', () => {
  let deep: unknown = 1
  for (let level = 0; level < 100_000; level += 1) deep = { deep }
  expect(() => frozenJson(deep)).toThrow('nested more than')
})

test('a member named __proto__ stays a member', () => {
  const copy = frozenJson(JSON.parse('{"__proto__":{"x":1}}')) as object
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"x":1}}')
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
})

test('the order of members does not change the canonical text', () => {
  const a = { b: [{ y: 1, x: 'ä\ud800' }], a: null }
  const b = { a: null, b: [{ x: 'ä\ud800', y: 1 }] }
  expect(canonical(a)).toBe(String.raw`{"a":null,"b":[{"x":"ä\ud800","y":1}]}`)
  expect(canonical(b)).toBe(canonical(a))
  expect(canonical([1, 2])).not.toBe(canonical([2, 1]))
  expect(canonical({ 10: 1, 9: 1 })).toBe(canonical({ 9: 1, 10: 1 }))
})
