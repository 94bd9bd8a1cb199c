import { decodeText, encodeText } from '@cordage/core/tool'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const utf16 = (text: string, big: boolean) => {
  const units = Buffer.from(text, 'utf16le')
  return big ? units.swap16() : units
}

describe('a text file', () => {
  it('comes back byte for byte unless its text is changed', () => {
    const line = fc.constantFrom('plain', '中文', '😀', 'é', '\t', 'a b', '')
    const end = fc.constantFrom('\n', '\r\n', '\r', '')
    const text = fc.array(fc.tuple(line, end)).map((parts) => parts.flat().join(''))
    const how = fc.constantFrom('utf8', 'utf8-bom', 'le', 'be')
    fc.assert(
      fc.property(text, how, (written, encoding) => {
        const bytes = {
          utf8: () => Buffer.from(written),
          'utf8-bom': () => Buffer.from(`\uFEFF${written}`),
          le: () => utf16(`\uFEFF${written}`, false),
          be: () => utf16(`\uFEFF${written}`, true),
        }[encoding]()
        const file = decodeText(bytes)
        expect(file?.lossless).toBe(true)
        expect(Buffer.compare(encodeText(file!, file!.text), bytes)).toBe(0)
      }),
    )
  })

  it('shows plain line ends where all are alike, and every end as it is where they are not', () => {
    expect(decodeText(Buffer.from('a\r\nb\r\n'))).toMatchObject({ text: 'a\nb\n', eol: '\r\n' })
    expect(decodeText(Buffer.from('a\r\nb\n'))).toMatchObject({ text: 'a\r\nb\n', eol: 'mixed' })
    expect(decodeText(Buffer.from('a\rb'))).toMatchObject({ text: 'a\rb', eol: 'mixed' })
    expect(decodeText(Buffer.from('ab'))).toMatchObject({ eol: '\n', bom: false })
    expect(decodeText(Buffer.alloc(0))).toMatchObject({ text: '', lossless: true })
  })

  it('writes a changed text the way the file was', () => {
    const file = decodeText(Buffer.from('\uFEFFa\r\nb\r\n'))!
    expect(encodeText(file, 'x\ny\r\nz\n').toString()).toBe('\uFEFFx\r\ny\r\nz\r\n')
  })

  it('in UTF-16 is known without a byte order mark', () => {
    expect(decodeText(utf16('hello\nworld', false))).toMatchObject({ encoding: 'utf-16le' })
    expect(decodeText(utf16('hello\nworld', true))).toMatchObject({ encoding: 'utf-16be' })
  })

  it('with bytes that are no text can be shown but not written back', () => {
    const latin1 = decodeText(Buffer.from('caf\u00e9 and more ordinary words', 'latin1'))
    expect(latin1?.lossless).toBe(false)
    const odd = decodeText(Buffer.concat([utf16('\uFEFFab', false), Buffer.from([0x41])]))
    expect(odd?.lossless).toBe(false)
  })

  it('is not what has NUL bytes or is full of control characters', () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
    expect(decodeText(png)).toBeUndefined()
    expect(
      decodeText(Buffer.from(Array.from({ length: 300 }, (_, index) => index % 256))),
    ).toBeUndefined()
    expect(decodeText(Buffer.from('\u0001\u0002\u0003abc'))).toBeUndefined()
    expect(decodeText(Buffer.from('colour \u001b[31mred\u001b[0m\n'))).toBeDefined()
  })
})
