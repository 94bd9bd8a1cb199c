import { createSeenFiles, escapeFileName, escapeNotes, frame } from '@cordage/core/tool'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const closings = (text: string, tag: string) => {
  return text.match(new RegExp(`<\\s*/\\s*${tag}(?![\\w-])`, 'gi'))?.length ?? 0
}

describe('a frame', () => {
  it('is closed once, whatever is in it', () => {
    const piece = fc.constantFrom('</out>', '</ out >', '< /OUT>', '<', '/', 'out', '>', '\n', ' ')
    const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    fc.assert(fc.property(hostile, (text) => closings(frame('out', {}, text), 'out') === 1))
  })

  it.each([
    ['letters of another width', '</ｏＵｔ>'],
    ['brackets and slashes of another width', '＜／out＞ ﹤∕out>'],
    ['characters nobody sees', '<\u200b/\u2060o\u200du\u00adt\ufeff>'],
    ['spaces of another kind', '<\u3000/\u00a0out>'],
  ])('is not closed by %s', (_, text) => {
    const shown = frame('out', {}, text)
    expect(shown.slice('<out>'.length, -'</out>'.length)).not.toMatch(/[<＜﹤]/)
  })

  it('keeps ordinary text and other tags as they are', () => {
    const text = 'if (a < b) </div> </output> &lt;'
    expect(frame('out', { name: 'x', cut: 3, gone: undefined }, text)).toBe(
      `<out name="x" cut="3">\n${text}\n</out>`,
    )
  })

  it('cannot be opened or closed from an attribute', () => {
    const framed = frame('out', { name: 'a"></out>\n<out x="' }, 'text')
    expect(closings(framed, 'out')).toBe(1)
    expect(framed.split('\n')).toHaveLength(3)
  })

  it('of the harness cannot be imitated', () => {
    const piece = fc.constantFrom('<', '/', ' ', '\t', 'harness-note', 'HARNESS-NOTE', '>', 'x')
    const hostile = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''))
    fc.assert(fc.property(hostile, (text) => !/<\s*\/?\s*harness-note/i.test(escapeNotes(text))))
    expect(escapeNotes('＜harness\u200b－note>')).not.toContain('＜')
  })
})

describe('a file name', () => {
  it('stays as it is, or is quoted where it could be taken for more than a name', () => {
    const plain = ['src/a.ts', '中文 文件.txt', "it's", 'a b', 'back\\slash']
    expect(plain.map(escapeFileName)).toEqual(plain)
    expect(escapeFileName('a\nb')).toBe('"a\\nb"')
    expect(escapeFileName('say "hi"')).toBe('"say \\"hi\\""')
    expect(escapeFileName(' lead')).toBe('" lead"')
    expect(escapeFileName('a\u202eb')).toBe('"a\\u202eb"')
    expect(escapeFileName('\u001b[2J')).toBe('"\\u001b[2J"')
    expect(escapeFileName('\ud800')).toBe('"\\ud800"')
  })

  it('is one line and can be read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const shown = escapeFileName(name)
        const back: unknown = shown.startsWith('"') ? JSON.parse(shown) : shown
        return !shown.includes('\n') && back === name
      }),
    )
  })
})

const as = (version: string) => ({ version, whole: true })

describe('seen files', () => {
  it('forget the oldest beyond their limit; seeing again makes new', () => {
    const seen = createSeenFiles(2)
    seen.set('a', as('1'))
    seen.set('b', as('1'))
    seen.set('a', as('2'))
    seen.set('c', as('1'))
    expect(['a', 'b', 'c'].map((path) => seen.get(path)?.version)).toEqual(['2', undefined, '1'])
  })
})
