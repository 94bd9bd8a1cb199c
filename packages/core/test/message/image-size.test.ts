import { imageSize } from '@cordage/core/message'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const u16 = (value: number) => [value >> 8, value & 0xff]
const latin = (text: string) => [...Buffer.from(text, 'latin1')]
const size = { width: 1_300, height: 700 }

const heads: Record<string, number[]> = {
  PNG: [...latin('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 0, 0, ...u16(1_300), 0, 0, ...u16(700)],
  GIF: [...latin('GIF89a'), ...u16(1_300).reverse(), ...u16(700).reverse()],
  // With an EXIF segment and a fill byte before the frame.
  JPEG: [...latin('\xff\xd8\xff\xe1\0\x06Exif\xff\xff\xc2\0\x11\x08'), ...u16(700), ...u16(1_300)],
  'lossy WebP': [
    ...latin('RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a'),
    ...u16(1_300).reverse(),
    ...u16(700).reverse(),
  ],
  'lossless WebP': [
    ...latin('RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f'),
    ...new Uint8Array(new Uint32Array([1_299 | (699 << 14)]).buffer),
  ],
  'WebP with a canvas': [
    ...latin('RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0'),
    ...u16(1_299).reverse(),
    0,
    ...u16(699).reverse(),
    0,
  ],
}

describe('the size of an image', () => {
  it.each(Object.keys(heads))('is read from the head of a %s', (kind) => {
    const head = heads[kind] ?? []
    expect(imageSize(Uint8Array.from([...head, 1, 2, 3]))).toEqual(size)
    expect(imageSize(Uint8Array.from(head.slice(0, -1)))).toBeUndefined()
  })

  it('is none, and no error, in whatever else begins like one', () => {
    const begun = fc.constantFrom(...Object.values(heads).map((head) => head.slice(0, 12)))
    fc.assert(
      fc.property(begun, fc.uint8Array({ maxLength: 40 }), (head, rest) => {
        const found = imageSize(Uint8Array.from([...head, ...rest]))
        if (found) expect(Math.min(found.width, found.height)).toBeGreaterThan(0)
        expect(imageSize(rest.subarray(0, 2))).toBeUndefined()
      }),
    )
  })
})
