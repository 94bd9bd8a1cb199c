import { openToolBench, type ToolBench } from '@cordage/testkit'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import read from '@cordage/tool-read'
import applyPatch from '../src/index.ts'

let bench: ToolBench
const at = (name: string) => join(bench.project, name)
const content = (name: string) => readFile(at(name), 'utf8')
const patch = (...lines: string[]) => {
  const text = ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
  return bench.call('apply_patch', { patch: text })
}

async function make(name: string, text: string): Promise<void> {
  await writeFile(at(name), text)
  await bench.call('read', { file_path: name })
}

beforeEach(async () => {
  bench = await openToolBench({ rows: { read, 'apply-patch': applyPatch } })
})
afterEach(() => bench[Symbol.asyncDispose]())

describe('apply_patch', () => {
  it('adds one tool, which is gone when the row is', async () => {
    expect(bench.offered()).toEqual(['apply_patch', 'read'])
    await bench.row('apply-patch').dispose()
    expect(bench.offered()).toEqual(['read'])
  })

  it('adds, updates, moves and deletes in one call', async () => {
    await make('a.txt', '\uFEFF一\r\n二\r\n')
    await make('run.sh', 'echo\n')
    await make('gone.txt', 'x\n')
    await chmod(at('run.sh'), 0o755)
    const answer = await patch(
      '*** Add File: new/dir/n.txt',
      '+hi',
      '*** Update File: a.txt',
      '@@',
      ' 一',
      '-二',
      '+三',
      '*** Update File: run.sh',
      '*** Move to: bin/run.sh',
      '*** Delete File: gone.txt',
    )
    expect(answer.isError).toBe(false)
    expect(answer.text.replaceAll(bench.project, '')).toBe(
      'added: /new/dir/n.txt +1 -0\n' +
        'updated: /a.txt +1 -1\n1\t一\n2\t三\n' +
        'moved from /run.sh: /bin/run.sh +0 -0\n' +
        'deleted: /gone.txt +0 -0',
    )
    expect(await content('new/dir/n.txt')).toBe('hi\n')
    expect(await content('a.txt')).toBe('\uFEFF一\r\n三\r\n')
    expect((await stat(at('bin/run.sh'))).mode & 0o777).toBe(0o755)
    expect((await readdir(bench.project)).sort()).toEqual(['a.txt', 'bin', 'new'])
  })

  it('takes a unified diff', async () => {
    await make('a.txt', '1\n2\n3\n')
    const diff = '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n'
    expect((await bench.call('apply_patch', { patch: diff })).isError).toBe(false)
    expect(await content('a.txt')).toBe('1\ntwo\n3\n')
  })

  it('writes nothing when one of the files does not fit, and names all that do not', async () => {
    await make('a.txt', 'a\n')
    await make('b.txt', 'b\n')
    const answer = await patch(
      '*** Add File: dir/new.txt',
      '+x',
      '*** Update File: a.txt',
      '@@',
      '-a',
      '+A',
      '*** Update File: b.txt',
      '@@',
      '-wrong',
      '+B',
      '*** Delete File: none.txt',
    )
    expect(answer.code).toBe('PATCH_MISMATCH')
    expect(answer.text).toContain('no lines like \\"wrong\\"'.replaceAll('\\', ''))
    expect(answer.text).toContain('none.txt')
    expect(await content('a.txt')).toBe('a\n')
    expect((await readdir(bench.project)).sort()).toEqual(['a.txt', 'b.txt'])
  })

  it('refuses what was not read, what changed since, and what is in the way', async () => {
    await writeFile(at('unread.txt'), 'x\n')
    const update = ['@@', '-x', '+y']
    expect((await patch('*** Update File: unread.txt', ...update)).code).toBe('FILE_NOT_READ')
    expect((await patch('*** Delete File: unread.txt')).code).toBe('FILE_NOT_READ')
    expect((await patch('*** Add File: unread.txt', '+y')).code).toBe('FILE_EXISTS')
    await make('stale.txt', 'x\n')
    await writeFile(at('stale.txt'), 'x\nz\n')
    expect((await patch('*** Update File: stale.txt', ...update)).code).toBe('FILE_STALE')
    expect((await patch('*** Delete File: stale.txt')).code).toBe('FILE_STALE')
    await make('from.txt', 'x\n')
    const move = ['*** Update File: from.txt', '*** Move to: unread.txt', ...update]
    expect((await patch(...move)).code).toBe('FILE_EXISTS')
    expect(await content('from.txt')).toBe('x\n')
  })

  it('applies several sections for one file one after the other', async () => {
    await make('a.txt', 'x\n')
    const first = ['*** Update File: a.txt', '@@', '-x', '+y']
    const second = ['*** Update File: a.txt', '*** Move to: a.txt', '@@', '-y', '+z']
    expect((await patch(...first, ...second)).isError).toBe(false)
    expect(await content('a.txt')).toBe('z\n')
    expect((await patch('*** Update File: a.txt', '@@', '-z', '+again')).isError).toBe(false)
  })

  it('writes nothing when one of the files is outside', async () => {
    await make('a.txt', 'a\n')
    const answer = await patch(
      '*** Update File: a.txt',
      '@@',
      '-a',
      '+A',
      '*** Add File: ../outside/x.txt',
      '+x',
    )
    expect(answer.code).toBe('TOOL_DENIED')
    expect(await content('a.txt')).toBe('a\n')
    expect(await readdir(bench.outside)).toEqual([])
  })

  it('says of each file what became of it when writing fails half way', async () => {
    const answer = await patch('*** Add File: x', '+1', '*** Add File: x/y', '+2')
    expect(answer.isError).toBe(true)
    expect(answer.text).toMatch(/^added: .*\/x \+1 -0\nNOT added: .*\/x\/y: /)
    expect(answer.value).toMatchObject({
      files: [{ action: 'added' }, { error: { code: 'FILE_NOT_DIRECTORY' } }],
    })
  })

  it('explains what it cannot read, and refuses a directory', async () => {
    expect((await bench.call('apply_patch', { patch: 'hello' })).code).toBe('PATCH_INVALID')
    await mkdir(at('dir'))
    expect((await patch('*** Delete File: dir')).code).toBe('FILE_IS_DIRECTORY')
  })
})
