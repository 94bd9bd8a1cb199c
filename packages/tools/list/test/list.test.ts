import { openToolBench, type ToolBench } from '@cordage/testkit'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import list from '../src/index.ts'

let bench: ToolBench
const show = async (args: object = {}) => {
  const { text } = await bench.call('list', args)
  return text.split('\n').slice(1).join('\n')
}

async function make(...names: string[]): Promise<void> {
  for (const name of names) {
    const path = join(bench.project, name)
    await mkdir(name.endsWith('/') ? path : join(path, '..'), { recursive: true })
    if (!name.endsWith('/')) await writeFile(path, 'x')
  }
}

beforeEach(async () => {
  bench = await openToolBench({ rows: { list }, config: { list: { maxEntries: 8 } } })
})
afterEach(() => bench[Symbol.asyncDispose]())

describe('list', () => {
  it('adds one tool, which is gone when the row is', async () => {
    expect(bench.offered()).toEqual(['list'])
    await bench.row('list').dispose()
    expect(bench.offered()).toEqual([])
  })

  it('shows a tree down to a depth', async () => {
    await make('src/deep/er/a.ts', '说明.md', 'empty/')
    expect(await show()).toBe('  empty/\n  src/\n    deep/\n  说明.md')
    expect(await show({ path: 'src', depth: 5 })).toBe('  deep/\n    er/\n      a.ts')
  })

  it('leaves out what the ignore files do, and does not look into hidden directories', async () => {
    await make('node_modules/x/a.js', 'out.log', '.venv/bin/python', '.git/HEAD', 'a.ts')
    await writeFile(join(bench.project, '.gitignore'), 'node_modules\n*.log\n')
    expect(await show({ depth: 4 })).toBe('  .gitignore\n  .venv/\n  a.ts')
  })

  it('shows links without following them, and names on one line each', async () => {
    await symlink('/', join(bench.project, 'root'))
    await make('a\n  forged')
    expect(await show({ depth: 9 })).toBe('  "a\\n  forged"\n  root@')
  })

  it('stops at a number of entries and says so', async () => {
    await make(...Array.from({ length: 12 }, (_, n) => `f${n}`))
    const answer = await bench.call('list', {})
    expect(answer.text.split('\n')[0]).toContain('the first 8 entries; list a part of it')
    expect(answer.text.split('\n')).toHaveLength(9)
    expect(answer.value).toMatchObject({ truncated: true })
  })

  it('says that there is nothing, and that it is no directory', async () => {
    expect(await show()).toBe('(nothing that is not ignored)')
    await make('file')
    expect((await bench.call('list', { path: 'file' })).code).toBe('FILE_NOT_DIRECTORY')
    expect((await bench.call('list', { path: 'none' })).code).toBe('FILE_NOT_FOUND')
  })
})
