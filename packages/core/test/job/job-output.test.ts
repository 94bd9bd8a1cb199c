import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JobOutput } from '../../src/job/job-output.ts'

describe('JobOutput', () => {
  it('gives what was written since a cursor, and nothing twice', () => {
    const output = new JobOutput(100)
    output.push('one ')
    expect(output.read(0, 100)).toEqual({ text: 'one ', next: 4, dropped: 0, left: 0 })
    output.push('two')
    expect(output.read(4, 100)).toEqual({ text: 'two', next: 7, dropped: 0, left: 0 })
    expect(output.read(7, 100)).toEqual({ text: '', next: 7, dropped: 0, left: 0 })
  })

  it('counts what was let go before it was read', () => {
    const output = new JobOutput(4)
    output.push('abcdefghij')
    expect(output.read(2, 100)).toEqual({ text: 'ghij', next: 10, dropped: 4, left: 0 })
  })

  it('gives every character once, whatever the pages and whenever they are read', () => {
    const writes = fc.array(fc.string({ unit: 'binary', maxLength: 12 }))
    fc.assert(
      fc.property(writes, fc.integer({ min: 2, max: 9 }), (pieces, page) => {
        const output = new JobOutput(1_000)
        let read = ''
        const turn = () => {
          const { text, next, dropped } = output.read(read.length, page)
          expect(dropped).toBe(0)
          expect(text.length).toBeLessThanOrEqual(page)
          expect(text.isWellFormed()).toBe(true)
          expect(next).toBe(read.length + text.length)
          read += text
          return text !== ''
        }
        for (const piece of pieces) {
          output.push(piece)
          turn()
        }
        while (turn());
        expect(read).toBe(pieces.join(''))
      }),
    )
  })

  it('keeps at most twice what it may, and all of that in the end', () => {
    const output = new JobOutput(10)
    for (let count = 0; count < 1_000; count += 1) output.push('xyz')
    expect(output.read(0, 100).text.length).toBeLessThanOrEqual(20)
    output.trim()
    expect(output.read(0, 100)).toMatchObject({ text: 'zxyzxyzxyz', dropped: 2_990, left: 0 })
  })
})
