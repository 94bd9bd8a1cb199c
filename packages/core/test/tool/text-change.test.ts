import { describe, expect, it } from 'vitest'
import { describeChange } from '../../src/tool/index.ts'

const lines = (count: number, word = 'line') => `${word}\n`.repeat(count)

describe('describeChange', () => {
  it('counts lines and shows the regions with their numbers', async () => {
    const before = `${lines(5)}old\n${lines(9)}gone\n`
    const change = await describeChange(before, `${lines(5)}new\nnew\n${lines(9)}`)
    expect(change).toMatchObject({ added: 2, removed: 2 })
    expect(change.excerpt).toBe(
      '4\tline\n5\tline\n6\tnew\n7\tnew\n8\tline\n9\tline\n…\n15\tline\n16\tline',
    )
    expect(change.diff).toContain('@@ -4,5 +4,6 @@\n line\n line\n-old\n+new\n+new\n line')
  })

  it('counts a missing newline at the end', async () => {
    expect(await describeChange('a\n', 'a')).toMatchObject({
      added: 1,
      removed: 1,
      excerpt: '1\ta',
    })
  })

  it('cuts what is long, and says so', async () => {
    const change = await describeChange('', lines(1_000, 'x'.repeat(900)))
    expect(change.added).toBe(1_000)
    expect(change.diff.length).toBeLessThan(20_100)
    expect(change.excerpt.split('\n')).toHaveLength(62)
    expect(change.excerpt).toMatch(/…\n…\n$/)
  })

  it('gives up on texts that have little in common', { timeout: 10_000 }, async () => {
    const [a, b] = ['a', 'b'].map((word) => {
      return Array.from({ length: 30_000 }, (_, index) => `${word}${index}`).join('\n')
    })
    const change = await describeChange(a ?? '', b ?? '')
    expect(change).toEqual({ added: 30_000, removed: 30_000, diff: '', excerpt: '' })
  })
})
