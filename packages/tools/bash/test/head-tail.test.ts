import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HeadTail } from '../src/head-tail.ts'
import { Spill } from '../src/spill.ts'

describe('HeadTail', () => {
  it('keeps the start and the end and counts what is between', () => {
    const kept = new HeadTail(3, 4)
    for (const text of ['ab', 'cde', 'fghij', 'klm']) kept.push(text)
    expect(kept.result()).toEqual({ head: 'abc', tail: 'jklm', omitted: 6 })
  })

  it('loses nothing and splits no character', () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 9 }))
    fc.assert(
      fc.property(texts, fc.nat(9), fc.integer({ min: 1, max: 9 }), (pieces, head, tail) => {
        const kept = new HeadTail(head, tail)
        for (const piece of pieces) kept.push(piece)
        const whole = pieces.join('')
        const result = kept.result()
        expect(result.head.length + result.omitted + result.tail.length).toBe(whole.length)
        expect(whole.startsWith(result.head) && whole.endsWith(result.tail)).toBe(true)
        expect((result.head + result.tail).isWellFormed()).toBe(true)
        expect(result.head.length).toBeLessThanOrEqual(head)
        expect(result.tail.length).toBeLessThanOrEqual(tail + 1)
      }),
    )
  })
})

describe('Spill', () => {
  it('keeps the first bytes and says that it is not all', () => {
    const spill = new Spill(5)
    spill.push(Buffer.from('abc'))
    expect(spill.complete).toBe(true)
    spill.push(Buffer.from('defg'))
    expect([spill.total, spill.complete, String(spill.bytes())]).toEqual([7, false, 'abcde'])
  })
})
