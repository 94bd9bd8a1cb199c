import { openToolBench, type ToolBench } from '@cordage/testkit'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import grep from '../src/index.ts'

let bench: ToolBench
const at = (name: string) => join(bench.project, name)
const find = (pattern: string, more: object = {}) => bench.call('grep', { pattern, ...more })

beforeEach(async () => {
  bench = await openToolBench({ rows: { grep } })
  await mkdir(at('src'))
  await writeFile(at('src/a.ts'), 'one\nTWO 二\nthree\nfour\nfive\ntwo\n')
  await writeFile(at('src/b.md'), 'two\n')
})
afterEach(() => bench[Symbol.asyncDispose]())

describe('grep', () => {
  it('adds one tool, which is gone when the row is', async () => {
    expect(bench.offered()).toEqual(['grep'])
    await bench.row('grep').dispose()
    expect(bench.offered()).toEqual([])
  })

  it('shows lines by file, with context and gaps', async () => {
    expect((await find('two')).text).toBe('2 matching lines\nsrc/a.ts\n6:two\nsrc/b.md\n1:two')
    const answer = await find('two', { ignore_case: true, context: 1, type: 'ts' })
    expect(answer.text).toBe(
      '2 matching lines\nsrc/a.ts\n1-one\n2:TWO 二\n3-three\n--\n5-five\n6:two',
    )
  })

  it('lists files or counts, narrowed by a glob', async () => {
    expect((await find('two', { output_mode: 'files_with_matches' })).text).toBe(
      '2 matching lines\nsrc/a.ts\nsrc/b.md',
    )
    const counted = await find('two', { output_mode: 'count', ignore_case: true, glob: '*.ts' })
    expect(counted.text).toBe('2 matching lines\n2\tsrc/a.ts')
  })

  it('pages without losing or repeating a line', async () => {
    await writeFile(at('many.txt'), Array.from({ length: 250 }, (_, n) => `hit ${n}`).join('\n'))
    const first = await find('hit')
    expect(first.text).toMatch(/^250 matching lines; lines 1-100 of 250, go on with offset 100\n/)
    const last = await find('hit', { offset: 200, head_limit: 90 })
    expect(last.text).toMatch(/^250 matching lines; lines 201-250 of 250\n/)
    expect(last.text).toContain('201:hit 200\n')
    expect((await find('hit', { offset: 999 })).text).toBe('No lines at offset 999; there are 250')
  })

  it('keeps a page short enough to be shown whole', async () => {
    await writeFile(at('wide.txt'), `${'hit'.padEnd(490, '.')}\n`.repeat(300))
    const answer = await find('hit', { head_limit: 300 })
    const shown = Number(/lines 1-(\d+) of 300/.exec(answer.text)?.[1])
    expect(answer.text.length).toBeLessThan(30_000)
    expect(answer.text).toContain(`go on with offset ${shown}`)
    const next = await find('hit', { offset: shown, head_limit: 1 })
    expect(next.text).toContain(`\n${shown + 1}:hit`)
  })

  it('finds text over several lines', async () => {
    const answer = await find('four\\nfive', { multiline: true })
    expect(answer.text).toContain('4:four\n5:five')
  })

  it('keeps what it found when an entry cannot be read, and says so', async () => {
    await symlink('loop', at('loop'))
    await mkdir(at('closed'))
    await writeFile(at('closed/c.ts'), 'two')
    await chmod(at('closed'), 0)
    const answer = await find('two')
    await chmod(at('closed'), 0o700)
    expect(answer.text).toContain('src/b.md\n1:two')
    // The superuser may read everything.
    if (process.getuid?.() !== 0) expect(answer.text).toMatch(/\nIncomplete: .*closed/)
  })

  it('escapes names and shows lines that look like its own as lines', async () => {
    await writeFile(at('x\nIncomplete: all.ts'), 'two')
    await writeFile(at('y.ts'), 'Incomplete: two\n')
    const { text } = await find('two', { glob: '{x*,y.ts}' })
    expect(text.split('\n').filter((line) => line.startsWith('Incomplete'))).toEqual([])
    expect(text).toContain('1:Incomplete: two')
  })

  it('searches one file, and explains a bad pattern', async () => {
    expect((await find('o', { path: 'src/b.md' })).text).toContain('src/b.md\n1:two')
    expect((await find('(')).code).toBe('PATTERN_INVALID')
    expect((await find('nothing like it')).text).toBe('No matches')
  })
})
