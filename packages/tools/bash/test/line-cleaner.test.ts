import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineCleaner } from '../src/line-cleaner.ts'

function clean(bytes: Uint8Array, cuts: readonly number[] = []): string {
  const cleaner = new LineCleaner()
  let out = ''
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    out += cleaner.push(bytes.subarray(from, cut))
    from = cut
  }
  return out + cleaner.end()
}

describe('LineCleaner', () => {
  it('removes colours, titles and cursor movements', () => {
    const text = '\x1b[31mred\x1b[0m \x1b]0;title\x07x\x1b[2K\x1b[1Ay\n'
    expect(clean(Buffer.from(text))).toBe('red xy\n')
  })

  it('shows a redrawn line as it was drawn last', () => {
    expect(clean(Buffer.from('10%\r50%\r100%\ndone\r\n'))).toBe('100%\ndone\n')
  })

  it('replaces invalid UTF-8 and removes control characters', () => {
    expect(clean(Buffer.from([0x61, 0xff, 0x00, 0x07, 0x09, 0x62]))).toBe('a\ufffd\tb')
  })

  it('holds back an unfinished line, but not for ever', () => {
    const cleaner = new LineCleaner()
    expect(cleaner.push(Buffer.from('half'))).toBe('')
    expect(cleaner.push(Buffer.from('x'.repeat(1_000_000))).length).toBeGreaterThan(990_000)
  })

  it('gives the same text however the bytes are cut', () => {
    const piece = fc.constantFrom(
      '中文',
      'é😀',
      '\x1b[1;31m',
      '\r',
      '\n',
      '\r\n',
      'abc',
      '\x1b]8;;u\x07',
    )
    const input = fc.record({ pieces: fc.array(piece), cuts: fc.array(fc.nat(200)) })
    fc.assert(
      fc.property(input, ({ pieces, cuts }) => {
        const bytes = Buffer.from(pieces.join(''))
        const places = cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b)
        expect(clean(bytes, places)).toBe(clean(bytes))
      }),
    )
  })
})
