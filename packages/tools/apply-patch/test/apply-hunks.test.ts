import { createTwoFilesPatch } from 'diff'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyHunks } from '../src/apply-hunks.ts'
import { parse } from '../src/parse.ts'

function apply(text: string, ...lines: string[]): string {
  const patch = ['*** Begin Patch', '*** Update File: f', ...lines, '*** End Patch'].join('\n')
  const [file] = parse(patch)
  if (file?.kind !== 'update') throw new Error('not an update')
  const applied = applyHunks(text, file.hunks)
  return 'text' in applied ? applied.text : `hunk ${applied.hunk}: ${applied.reason}`
}

describe('applyHunks', () => {
  it('keeps line endings, and gives new lines those of their place', () => {
    expect(apply('a\r\nb\r\nc\n', '@@', ' a', '-b', '+B', '+C')).toBe('a\r\nB\r\nC\r\nc\n')
  })

  it('keeps the file’s own white space where only context differs', () => {
    expect(apply('\tif x:  \n\t\ty\n', '@@', ' if x:', '-y', '+z')).toBe('\tif x:  \nz\n')
  })

  it('goes below its anchors', () => {
    const text = 'class A:\n  def f():\n    return 1\nclass B:\n  def f():\n    return 1\n'
    const changed = apply(text, '@@ class B', '@@ def f', '-    return 1', '+    return 2')
    expect(changed).toBe(text.slice(0, text.lastIndexOf('1')) + '2\n')
  })

  it('changes the last of several when it stands at the end', () => {
    expect(apply('x\ny\nx\n', '@@', '-x', '+z', '*** End of File')).toBe('x\ny\nz\n')
  })

  it('applies hunks in order, each after the one before', () => {
    expect(apply('x\nx\nx\n', '@@', '-x', '+1', '@@', '-x', '+2')).toBe('1\n2\nx\n')
    expect(apply('a\nb\n', '@@', '-b', '+B', '@@', '-a', '+A')).toBe('hunk 2: no lines like "a"')
  })

  it('inserts without context at the end, below an anchor, into an empty file', () => {
    expect(apply('a\nb', '@@', '+c')).toBe('a\nb\nc')
    expect(apply('a\nb\n', '@@ a', '+c')).toBe('a\nc\nb\n')
    expect(apply('', '@@', '+c')).toBe('c\n')
  })

  it('says which hunk does not fit, and which line is missing', () => {
    expect(apply('a\nb\n', '@@', '-a', '+A', '@@', ' b', '-zz', '+Z')).toBe(
      'hunk 2: no lines like "zz"',
    )
    expect(apply('a\n', '@@ nowhere', '-a', '+A')).toBe('hunk 1: no line "nowhere" after line 0')
  })

  it('does what the diff of any two texts says', () => {
    const line = fc.constantFrom('a', 'b', 'c', '', '中')
    const text = fc
      .tuple(fc.array(line, { maxLength: 14 }), fc.boolean())
      .map(([lines, end]) => lines.join('\n') + (end && lines.length > 0 ? '\n' : ''))
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 3 }), (before, after, context) => {
        fc.pre(before !== after)
        const patch = createTwoFilesPatch('f', 'f', before, after, '', '', { context })
        const [file] = parse(patch)
        if (file?.kind !== 'update') throw new Error('not an update')
        expect(applyHunks(before, file.hunks)).toEqual({ text: after })
      }),
    )
  })
})
