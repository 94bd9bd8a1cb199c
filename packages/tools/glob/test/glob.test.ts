import { openToolBench, type ToolBench } from '@cordage/testkit'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import glob from '../src/index.ts'

let bench: ToolBench
const find = (pattern: string, more: object = {}) => bench.call('glob', { pattern, ...more })

async function make(name: string, ageMinutes = 0): Promise<void> {
  const path = join(bench.project, name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, 'x')
  const time = Date.now() / 1000 - ageMinutes * 60
  await utimes(path, time, time)
}

beforeEach(async () => {
  bench = await openToolBench({ rows: { glob }, config: { glob: { maxResults: 3 } } })
})
afterEach(() => bench[Symbol.asyncDispose]())

describe('glob', () => {
  it('adds one tool, which is gone when the row is', async () => {
    expect(bench.offered()).toEqual(['glob'])
    await bench.row('glob').dispose()
    expect(bench.offered()).toEqual([])
  })

  it('gives the newest first, without ignored files', async () => {
    await make('.gitignore')
    await writeFile(join(bench.project, '.gitignore'), 'dist\n')
    await make('src/old.ts', 20)
    await make('src/新.ts', 1)
    await make('dist/out.ts')
    expect((await find('**/*.ts')).text).toBe('2 files\nsrc/新.ts\nsrc/old.ts')
  })

  it('says how many there are when it does not show all', async () => {
    for (const age of [1, 2, 3, 4, 5]) await make(`f${age}.md`, age)
    const answer = await find('*.md')
    expect(answer.text).toBe('5 files, the newest 3\nf1.md\nf2.md\nf3.md')
    expect(answer.value).toMatchObject({ total: 5, incomplete: [] })
  })

  it('gives absolute paths outside the current directory, names on one line each', async () => {
    await writeFile(join(bench.outside, 'a\nb.txt'), 'x')
    const answer = await find('*.txt', { path: bench.outside })
    expect(answer.text).toBe(`1 file\n${JSON.stringify(join(bench.outside, 'a\nb.txt'))}`)
  })

  it('tells nothing found from no such directory', async () => {
    expect((await find('*.none')).text).toBe('No files found')
    expect((await find('*', { path: 'nowhere' })).isError).toBe(true)
  })
})
