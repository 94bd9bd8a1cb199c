import { openToolBench, type ToolBench } from '@cordage/testkit'
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import read from '@cordage/tool-read'
import write from '../src/index.ts'

let bench: ToolBench
const at = (name: string) => join(bench.project, name)
const put = (file_path: string, content: string) => bench.call('write', { file_path, content })

beforeEach(async () => {
  bench = await openToolBench({ rows: { read, write } })
})
afterEach(() => bench[Symbol.asyncDispose]())

describe('write', () => {
  it('adds one tool, which is gone when the row is', async () => {
    expect(bench.offered()).toEqual(['read', 'write'])
    await bench.row('write').dispose()
    expect(bench.offered()).toEqual(['read'])
  })

  it('makes a file with its directories, and may write it again', async () => {
    const answer = await put('新/文件 夹/a\nb.txt', '一\n二\n')
    expect(answer.text).toBe(`Created ${JSON.stringify(at('新/文件 夹/a\nb.txt'))}, 2 lines.`)
    expect(answer.value).toMatchObject({ created: true, added: 2, removed: 0 })
    expect((await put('新/文件 夹/a\nb.txt', '三\n')).isError).toBe(false)
    expect(await readFile(at('新/文件 夹/a\nb.txt'), 'utf8')).toBe('三\n')
  })

  it('refuses a file that was not read', async () => {
    await writeFile(at('a.txt'), 'precious')
    const answer = await put('a.txt', 'gone')
    expect(answer.code).toBe('FILE_NOT_READ')
    expect(answer.text).toContain('it has not been read yet')
    expect(await readFile(at('a.txt'), 'utf8')).toBe('precious')
  })

  it('refuses a file of which only a part was read, until the rest is', async () => {
    await writeFile(at('a.txt'), '1\n2\n3\n')
    await bench.call('read', { file_path: 'a.txt', limit: 2 })
    expect((await put('a.txt', 'x')).text).toContain('only a part of it has been read')
    await bench.call('read', { file_path: 'a.txt', offset: 3 })
    expect((await put('a.txt', 'x')).isError).toBe(false)
  })

  it('refuses a file that changed since it was read', async () => {
    await writeFile(at('a.txt'), 'one')
    await bench.call('read', { file_path: 'a.txt' })
    await writeFile(at('a.txt'), 'two')
    expect((await put('a.txt', 'three')).code).toBe('FILE_STALE')
    expect(await readFile(at('a.txt'), 'utf8')).toBe('two')
  })

  it('keeps encoding, BOM, line endings and mode of what was there', async () => {
    await writeFile(at('a.txt'), Buffer.from('\uFEFFa\r\nb\r\n', 'utf16le'))
    await chmod(at('a.txt'), 0o640)
    await bench.call('read', { file_path: 'a.txt' })
    const answer = await put('a.txt', 'a\nc\n')
    expect(answer.text).toContain('lines +1 -1. Its CRLF line endings were kept.')
    expect((await readFile(at('a.txt'))).toString('utf16le')).toBe('\uFEFFa\r\nc\r\n')
    expect((await stat(at('a.txt'))).mode & 0o777).toBe(0o640)
  })

  it('writes nothing outside, neither by .. nor through a link', async () => {
    await symlink(bench.outside, at('link'))
    for (const path of ['../outside/a.txt', 'link/a.txt', join(bench.outside, 'd/a.txt')]) {
      expect((await put(path, 'x')).code).toBe('TOOL_DENIED')
    }
    await expect(stat(join(bench.outside, 'a.txt'))).rejects.toThrow('ENOENT')
    await expect(stat(join(bench.outside, 'd'))).rejects.toThrow('ENOENT')
  })

  it('refuses a directory and a read-only mode', async () => {
    await mkdir(at('dir'))
    expect((await put('dir', 'x')).code).toBe('FILE_IS_DIRECTORY')
    await bench[Symbol.asyncDispose]()
    bench = await openToolBench({ rows: { write }, mode: 'read-only' })
    expect((await put('a.txt', 'x')).code).toBe('TOOL_DENIED')
  })
})
