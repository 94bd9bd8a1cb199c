import { openToolBench, type ToolBench } from '@cordage/testkit'
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import read from '@cordage/tool-read'
import edit from '../src/index.ts'

let bench: ToolBench
const at = (name: string) => join(bench.project, name)
const change = (file_path: string, old_string: string, new_string: string) => {
  return bench.call('edit', { file_path, old_string, new_string })
}

beforeEach(async () => {
  bench = await openToolBench({ rows: { read, edit } })
})
afterEach(() => bench[Symbol.asyncDispose]())

describe('edit', () => {
  it('adds one tool, which is gone when the row is', async () => {
    expect(bench.offered()).toEqual(['edit', 'read'])
    await bench.row('edit').dispose()
    expect(bench.offered()).toEqual(['read'])
  })

  it('changes a file that was read and shows the region as it is now', async () => {
    await writeFile(at('a.ts'), '1\n2\n3\n4\n5\n6\n')
    await bench.call('read', { file_path: 'a.ts' })
    const answer = await change('a.ts', '4', 'four\n4½')
    expect(answer.text).toBe(
      `Edited ${at('a.ts')}: 1 replacement, +2 -1. Now:\n2\t2\n3\t3\n4\tfour\n5\t4½\n6\t5\n7\t6`,
    )
    expect(answer.value).toMatchObject({ added: 2, removed: 1, replacements: 1 })
    expect((answer.value as { diff: string }).diff).toContain('-4\n+four')
    expect((await change('a.ts', '5', 'five')).isError).toBe(false)
  })

  it('keeps BOM, line endings and mode', async () => {
    await writeFile(at('a.sh'), '\uFEFF你好\r\nb\r\n')
    await chmod(at('a.sh'), 0o750)
    await bench.call('read', { file_path: 'a.sh' })
    expect((await change('a.sh', '你好\nb', '再见\nx\ny')).isError).toBe(false)
    expect(await readFile(at('a.sh'), 'utf8')).toBe('\uFEFF再见\r\nx\r\ny\r\n')
    expect((await stat(at('a.sh'))).mode & 0o777).toBe(0o750)
  })

  it('keeps UTF-16', async () => {
    await writeFile(at('a.txt'), Buffer.from('\uFEFFold text\r\n', 'utf16le'))
    await bench.call('read', { file_path: 'a.txt' })
    expect((await change('a.txt', 'old', 'new')).isError).toBe(false)
    expect((await readFile(at('a.txt'))).toString('utf16le')).toBe('\uFEFFnew text\r\n')
  })

  it('refuses a file that was not read, and one that changed since', async () => {
    await writeFile(at('a.txt'), 'one')
    expect((await change('a.txt', 'one', 'two')).code).toBe('FILE_NOT_READ')
    await bench.call('read', { file_path: 'a.txt' })
    await writeFile(at('a.txt'), 'one, by somebody else')
    expect((await change('a.txt', 'one', 'two')).code).toBe('FILE_STALE')
    expect(await readFile(at('a.txt'), 'utf8')).toBe('one, by somebody else')
  })

  it('lets one of many edits at the same time win at a time, and loses none', async () => {
    await writeFile(at('n.txt'), 'a b c d e f g h')
    await bench.call('read', { file_path: 'n.txt' })
    const calls = [...'abcdefgh'].map((letter) => {
      return {
        name: 'edit',
        args: { file_path: 'n.txt', old_string: letter, new_string: letter + letter },
      }
    })
    const answers = await bench.batch(calls)
    expect(answers.every((answer) => !answer.isError)).toBe(true)
    expect(await readFile(at('n.txt'), 'utf8')).toBe('aa bb cc dd ee ff gg hh')
  })

  it('refuses what it could not write back: binary and broken UTF-8', async () => {
    await writeFile(at('latin1.txt'), Buffer.from('caf\xe9 and more text around it', 'latin1'))
    await bench.call('read', { file_path: 'latin1.txt' })
    expect((await change('latin1.txt', 'and', 'or')).code).toBe('FILE_NOT_TEXT')
  })

  it('follows a link inside the project and none out of it', async () => {
    await writeFile(at('real.txt'), 'one')
    await writeFile(join(bench.outside, 'x.txt'), 'one')
    await symlink('real.txt', at('in.txt'))
    await symlink(join(bench.outside, 'x.txt'), at('out.txt'))
    for (const file_path of ['in.txt', 'out.txt']) await bench.call('read', { file_path })
    expect((await change('in.txt', 'one', 'two')).isError).toBe(false)
    expect(await readFile(at('real.txt'), 'utf8')).toBe('two')
    expect((await change('out.txt', 'one', 'two')).code).toBe('TOOL_DENIED')
    expect(await readFile(join(bench.outside, 'x.txt'), 'utf8')).toBe('one')
  })

  it('names what is wrong with its arguments', async () => {
    await mkdir(at('dir'))
    expect((await change('dir', 'a', 'b')).code).toBe('FILE_IS_DIRECTORY')
    expect((await change('none.txt', 'a', 'b')).code).toBe('FILE_NOT_FOUND')
    const nothing = await bench.call('edit', { file_path: 'a' })
    expect(nothing.code).toBe('INVALID_ARGS')
    expect(nothing.text).toContain('give old_string and new_string, or edits')
  })
})
