import { describe, expect, it } from 'vitest'
import { printRow, problemsOf, type Row } from './bench/row.ts'

const row = (samples: number[], at: number): Row => {
  return { name: 'start', unit: 'ms', samples, bare: [9, 10, 11], limit: { of: 'ratio', at } }
}

describe('a row of the bench', () => {
  it('gives N, minimum, median, the ratio to bare node, its limit and the verdict', () => {
    const cells = printRow(row([40, 30, 50], 4)).split(/ {2,}/)
    expect(cells).toEqual(['start', '3', '30.00', '40.00 ms', '4.00 x node', '<= 4 x node', 'PASS'])
    expect(printRow(row([40, 30, 50], 3.9))).toMatch(/FAIL$/)
  })
})

describe('a report', () => {
  it('is a failure where a row is missing or was not measured', () => {
    expect(problemsOf([row([40], 4)], ['start'])).toEqual([])
    expect(problemsOf([row([40], 4)], ['start', 'peak'])).toEqual(['These rows are missing: peak'])
    const none = 'These rows are missing: start'
    expect(problemsOf([row([], 4)], ['start'])).toContain(none)
    expect(problemsOf([row([Number.NaN], 4)], ['start'])).toContain(none)
  })

  it('is a failure where the least of a row is under what it must be', () => {
    const share = (samples: number[]): Row => {
      return { name: 'share', unit: '%', samples, limit: { of: 'min', at: 97 } }
    }
    expect(printRow(share([98, 97]))).toMatch(/>= 97 % +PASS$/)
    expect(problemsOf([share([98, 96.9])], ['share'])).toEqual(['Outside their limit: share'])
  })

  it('is a failure where a row is over its limit', () => {
    expect(problemsOf([row([41], 4)], ['start'])).toEqual(['Outside their limit: start'])
  })
})
