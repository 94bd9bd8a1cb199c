import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replaceAll, type Edit } from '../src/replace.ts'

const replace = (text: string, old_string: string, new_string: string, replace_all = false) => {
  return replaceAll(text, [{ old_string, new_string, replace_all }], '/f').text
}
const messageOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return ''
}

describe('replaceAll', () => {
  it('finds text with \\n in a file with \\r\\n and keeps the file’s endings', () => {
    expect(replace('a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz')).toBe('x\r\ny\r\nz\r\nc\r\n')
    expect(replace('a\nb\n', 'a\r\nb\r\n', 'x\r\n')).toBe('x\n')
  })

  it('takes the ending of the place where lines are mixed', () => {
    expect(replace('a\r\nb\nc\n', 'a', '1\n2')).toBe('1\r\n2\r\nb\nc\n')
    expect(replace('a\r\nb\nc\n', 'b', '1\n2')).toBe('a\r\n1\n2\nc\n')
  })

  it('does not read $ patterns in the new text', () => {
    expect(replace('price', 'price', '$& $1 $$')).toBe('$& $1 $$')
  })

  it('names the lines when the text is there several times', () => {
    const text = 'x = 1\ny = 2\nx = 1\n'
    expect(messageOf(() => replace(text, 'x = 1', 'z'))).toContain('2 times in /f, at lines 1, 3')
    expect(replace(text, 'x = 1', 'z', true)).toBe('z\ny = 2\nz\n')
  })

  it('shows where white space differs', () => {
    const text = 'function a() {\n\treturn 1\n}\n'
    const message = messageOf(() => replace(text, 'function a() {\n  return 1\n}', ''))
    expect(message).toContain(
      'closest at line 2, white space differs: file "\\treturn 1", old_string "  return 1"',
    )
  })

  it('shows the most similar line when none is the same', () => {
    const message = messageOf(() =>
      replace('a\nconst total = sum(x, y)\n', 'const total = sum(y)', ''),
    )
    expect(message).toContain('closest at line 2, the text differs: file "const total = sum(x, y)"')
  })

  it('notices line numbers that were copied along', () => {
    expect(messageOf(() => replace('abc\n', '1\tabc', 'x'))).toContain('line numbers')
  })

  it('refuses an edit that changes nothing', () => {
    expect(messageOf(() => replace('a\r\n', 'a\r\n', 'a\n'))).toContain('are the same')
  })

  it('applies several edits to the outcome of each other, all or none', () => {
    const edits: Edit[] = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'bc', new_string: 'd' },
    ]
    expect(replaceAll('ac', edits, '/f')).toEqual({ text: 'd', count: 2 })
    const wrong = [...edits, { old_string: 'zzz', new_string: '' }]
    expect(messageOf(() => replaceAll('ac', wrong, '/f'))).toContain('edit 3: old_string is not in')
  })

  it('changes nothing but the place, whatever the endings', () => {
    const line = fc.string({ unit: fc.constantFrom('a', '中', ' '), maxLength: 3 })
    const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')))
    fc.assert(
      fc.property(lines, lines, fc.string({ unit: fc.constantFrom('x', '\n') }), (a, b, text) => {
        const [before, after] = [a, b].map((part) => part.flat().join('')) as [string, string]
        const result = replace(`${before}KEY${after}`, 'KEY', `<${text}>`)
        expect(result.startsWith(`${before}<`) && result.endsWith(`>${after}`)).toBe(true)
        const middle = result.slice(before.length, result.length - after.length)
        expect(middle.replaceAll('\r\n', '\n')).toBe(`<${text}>`)
      }),
    )
  })

  it('gives up on a comparison that would take long', { timeout: 10_000 }, () => {
    const text = `${'some line of a large file\n'.repeat(200_000)}`
    messageOf(() => replace(text, 'not there\n'.repeat(500), ''))
  })
})
