import { array, assert, constantFrom, property, stringMatching } from 'fast-check'
import picomatch from 'picomatch'
import { describe, expect, it } from 'vitest'
import { compilePattern } from '../src/pattern.ts'

const matches = (pattern: string, path: string, anywhere = false) => {
  return compilePattern(pattern, '/project', { anywhere })(path)
}

describe('a pattern', () => {
  it.each([
    ['*.ts', 'a.ts', 'src/a.ts'],
    ['**/*.ts', 'a.ts', 'a.tsx'],
    ['**/*.ts', 'x/y/a.ts', 'x/y.ts/a'],
    ['src/**', 'src/a/b', 'source/a'],
    ['*/**', 'a/b', 'a'],
    ['src/**/b', 'src/b', 'src/b/c'],
    ['**/a/**/b', 'a/x/a/b', 'a/x'],
    ['{a,b/{c,d}}/*.ts', 'b/d/x.ts', 'b/x.ts'],
    ['[a-cx]?.t', 'xy.t', 'dy.t'],
    ['[!a]', 'b', 'a'],
    ['[]x]', ']', 'y'],
    ['\\*{a}', '*a', 'xa'],
    ['/project/src/*', 'src/a', 'a'],
    ['./a', 'a', 'b'],
    ['a**b', 'axxb', 'a/b'],
    ['{a', '{a', 'a'],
    ['?', '😀', 'ab'],
  ])('%s matches %s, not %s', (pattern, path, other) => {
    expect([matches(pattern, path), matches(pattern, other)]).toEqual([true, false])
  })

  it('without a slash matches at any depth where that is asked for', () => {
    expect([matches('*.ts', 'a/b.ts', true), matches('a/*.ts', 'x/a/b.ts', true)]).toEqual([
      true,
      false,
    ])
  })

  it('answers without delay, whatever the pattern', { timeout: 10_000 }, () => {
    expect(matches(`${'*a'.repeat(400)}b`, 'a'.repeat(250))).toBe(false)
    expect(matches(`${'**/a/'.repeat(150)}b`, `${'a/'.repeat(500)}c`)).toBe(false)
    expect(() => matches('{a,b}'.repeat(50), 'a')).toThrow('more than 256 patterns')
  })

  it('means what it means elsewhere', () => {
    const piece = constantFrom('a', 'b', '*', '**', '?', '/', '[ab]', '{a,b}', '.', '**/')
    const name = stringMatching(/^[ab.]{0,2}[ab]$/)
    const path = array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
    const pattern = array(piece, { minLength: 1, maxLength: 6 })
      .map((pieces) => pieces.join(''))
      // The two differ on purpose: empty names, dots as names, stars next to stars, and
      // whether a file is below itself.
      .filter((text) => !/\/\/|^\/|\/$|(^|\/)\.+(\/|$)|\*{3}|[^/]\*\*|\*\*[^/]|\/\*\*$/.test(text))
    assert(
      property(pattern, path, (pattern, path) => {
        expect(matches(pattern, path)).toBe(picomatch.isMatch(path, pattern, { dot: true }))
      }),
    )
  })
})
