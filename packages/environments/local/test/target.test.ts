import { execFileSync } from 'node:child_process'
import {
  chmod,
  link,
  mkdir,
  open,
  readFile,
  readdir,
  rename,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFileSystem } from '../src/file-system.ts'
import { codeOf, makeDirectory, never } from './fixture.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (content: Uint8Array) => new TextDecoder().decode(content)

describe.each(['full', 'partial'] as const)('a target, guarantee %s', (guarantee) => {
  const fs = createFileSystem(never, guarantee)
  const write = async (path: string, content: string, options = {}) => {
    await using target = await fs.target(path)
    return target.write(bytes(content), options)
  }
  const read = async (path: string, range?: { start: number; end: number }) => {
    await using target = await fs.target(path)
    return target.read(range)
  }

  it('resolves links in the middle and at the end, also to what is not there', async () => {
    const dir = await makeDirectory()
    await mkdir(join(dir, 'real'))
    await symlink('real', join(dir, 'way'))
    await symlink('../missing', join(dir, 'real', 'last'))
    await using target = await fs.target(join(dir, 'way', 'last'))
    expect(target.path).toBe(join(dir, 'missing'))
    expect(await target.stat()).toBeUndefined()
    await target.write(bytes('x'), { expect: 'absent' })
    expect(await readFile(join(dir, 'missing'), 'utf8')).toBe('x')
  })

  it('refuses circles of links, NUL, relative and endless paths', async () => {
    const dir = await makeDirectory()
    await symlink('b', join(dir, 'a'))
    await symlink('a', join(dir, 'b'))
    expect(await codeOf(fs.target(join(dir, 'a')))).toBe('PATH_INVALID')
    expect(await codeOf(fs.target(join(dir, 'a', 'x')))).toBe('PATH_INVALID')
    expect(await codeOf(fs.target(`${dir}/a\0b`))).toBe('PATH_INVALID')
    expect(await codeOf(fs.target('a/b'))).toBe('PATH_INVALID')
    expect(await codeOf(fs.target(`${dir}/${'x'.repeat(300)}`))).toBe('PATH_INVALID')
    expect(await codeOf(fs.target(`${dir}/${'\ud800'}`))).toBe('PATH_INVALID')
  })

  it('names a missing parent and a parent that is a file', async () => {
    const dir = await makeDirectory()
    await writeFile(join(dir, 'file'), '')
    await expect(fs.target(join(dir, 'no', 'x'))).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
      message: `There is no ${join(dir, 'no')}.`,
    })
    expect(await codeOf(fs.target(join(dir, 'file', 'x')))).toBe('FILE_NOT_DIRECTORY')
  })

  it('offers each missing parent at its resolved path before it makes it', async () => {
    const dir = await makeDirectory()
    await mkdir(join(dir, 'real'))
    await symlink('real', join(dir, 'way'))
    const offered: string[] = []
    const path = join(dir, 'way', 'a', 'b', 'file')
    await using target = await fs.target(path, { parents: (parent) => offered.push(parent) })
    expect(offered).toEqual([join(dir, 'real', 'a'), join(dir, 'real', 'a', 'b')])
    expect(target.path).toBe(join(dir, 'real', 'a', 'b', 'file'))
    await target.write(bytes('x'), {})
  })

  it('makes no parent that was not agreed to, and passes the refusal on', async () => {
    const dir = await makeDirectory()
    const refusal = new RangeError('no')
    const parents = (path: string) => {
      if (path.endsWith('b')) throw refusal
    }
    await expect(fs.target(join(dir, 'a', 'b', 'c'), { parents })).rejects.toBe(refusal)
    expect(await readdir(join(dir, 'a'))).toEqual([])
  })

  it('reads ranges of a sparse file of 8 GB', async () => {
    const dir = await makeDirectory()
    const path = join(dir, 'sparse')
    const handle = await open(path, 'w')
    await handle.write('end', 8 * 2 ** 30)
    await handle.close()
    const { bytes: end, version } = await read(path, { start: 8 * 2 ** 30, end: 9 * 2 ** 30 })
    expect(text(end)).toBe('end')
    expect(await codeOf(read(path))).toBe('FILE_TOO_LARGE')
    await using target = await fs.target(path)
    expect(await target.stat()).toMatchObject({ kind: 'file', size: 8 * 2 ** 30 + 3, version })
  })

  it('gives the version of the content, not of the time', async () => {
    const dir = await makeDirectory()
    const path = join(dir, 'file')
    const first = await write(path, 'same')
    await writeFile(path, 'same')
    expect((await read(path, { start: 1, end: 3 })).version).toBe(first)
    expect(text((await read(path, { start: 1, end: 3 })).bytes)).toBe('am')
    expect(await write(path, 'other')).not.toBe(first)
  })

  it('tells two contents of a large file apart', async () => {
    const dir = await makeDirectory()
    const path = join(dir, 'large')
    const large = 'x'.repeat(5 * 2 ** 20)
    const first = await write(path, large)
    expect((await read(path)).version).toBe(first)
    await writeFile(path, large)
    expect(await codeOf(write(path, 'y', { expect: first }))).toBe('FILE_STALE')
  })

  it('refuses pipes, sockets, devices and directories without waiting', async () => {
    const dir = await makeDirectory()
    execFileSync('mkfifo', [join(dir, 'pipe')])
    for (const path of [join(dir, 'pipe'), '/dev/zero', '/dev/tty', '/dev/null']) {
      expect(await codeOf(read(path))).toBe('PATH_INVALID')
      expect(await codeOf(write(path, 'x'))).toBe('PATH_INVALID')
      expect(await codeOf(fs.grep(path, { pattern: 'x', maxResults: 1 }, never))).toBe(
        'PATH_INVALID',
      )
    }
    await using target = await fs.target(join(dir, 'pipe'))
    expect(await target.stat()).toMatchObject({ kind: 'other' })
    expect(await codeOf(read(dir))).toBe('FILE_IS_DIRECTORY')
    expect(await codeOf(write(dir, 'x'))).toBe('FILE_IS_DIRECTORY')
    expect(await codeOf(read(join(dir, 'none')))).toBe('FILE_NOT_FOUND')
  })

  it.runIf(process.platform === 'linux')('reads files of /proc, and none that waits', async () => {
    expect(text((await read('/proc/self/status')).bytes)).toContain('Pid:')
    const { path } = await fs.target('/proc/self/environ').then(async (target) => {
      await target[Symbol.asyncDispose]()
      return target
    })
    expect(path).toBe(`/proc/${process.pid}/environ`)
    expect(await codeOf(write('/proc/self/comm2', 'x'))).toBe('FILE_DENIED')
    const waiting = await codeOf(read('/proc/kmsg'))
    expect(['FILE_FAILED', 'FILE_DENIED', 'FILE_NOT_FOUND', 'no error']).toContain(waiting)
  })

  it('keeps the mode, gives new files that of the umask, and protects read-only files', async () => {
    const dir = await makeDirectory()
    const path = join(dir, 'file')
    await write(path, 'x')
    expect((await stat(path)).mode & 0o777).toBe(0o666 & ~process.umask())
    await chmod(path, 0o4751)
    await write(path, 'y')
    expect((await stat(path)).mode & 0o7777).toBe(0o751)
    await chmod(path, 0o444)
    expect(await codeOf(write(path, 'z'))).toBe('FILE_DENIED')
    expect(await readFile(path, 'utf8')).toBe('y')
  })

  it('leaves other names of a file and readers of the old one alone', async () => {
    const dir = await makeDirectory()
    const path = join(dir, 'file')
    await write(path, 'old')
    await link(path, join(dir, 'other'))
    await write(path, 'new')
    expect(await readFile(join(dir, 'other'), 'utf8')).toBe('old')
  })

  it('lets one of fifty writers win that saw the same version', async () => {
    const dir = await makeDirectory()
    const path = join(dir, 'file')
    const seen = await write(path, 'start')
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) => codeOf(write(path, `writer ${n}`, { expect: seen }))),
    )
    expect(results.filter((code) => code === 'no error')).toHaveLength(1)
    expect(results.filter((code) => code === 'FILE_STALE')).toHaveLength(49)
    const first = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        codeOf(write(join(dir, 'new'), `writer ${n}`, { expect: 'absent' })),
      ),
    )
    expect(first.filter((code) => code === 'no error')).toHaveLength(1)
    expect(first.filter((code) => code === 'FILE_EXISTS')).toHaveLength(49)
    expect((await readdir(dir)).sort()).toEqual(['file', 'new'])
  })

  it('is stale when the file is gone', async () => {
    const dir = await makeDirectory()
    const path = join(dir, 'file')
    const seen = await write(path, 'x')
    await using target = await fs.target(path)
    await target.remove()
    expect(await codeOf(target.write(bytes('y'), { expect: seen }))).toBe('FILE_STALE')
    expect(await codeOf(target.remove())).toBe('FILE_NOT_FOUND')
    expect(await readdir(dir)).toEqual([])
  })

  it('lists names with newlines and names that are not UTF-8', async () => {
    const dir = await makeDirectory()
    await writeFile(join(dir, 'a\nb'), '')
    await mkdir(join(dir, 'c'))
    await symlink('nowhere', join(dir, 'd'))
    await writeFile(Buffer.concat([Buffer.from(`${dir}/e`), Buffer.from([0xff])]), '')
    await using target = await fs.target(dir)
    expect(await target.list()).toEqual([
      { name: 'a\nb', kind: 'file' },
      { name: 'c', kind: 'directory' },
      { name: 'd', kind: 'symlink' },
      { name: 'e\ufffd', kind: 'file' },
    ])
    await using file = await fs.target(join(dir, 'a\nb'))
    expect(await codeOf(file.list())).toBe('FILE_NOT_DIRECTORY')
    await using root = await fs.target('/')
    expect((await root.list()).map(({ name }) => name)).toContain('tmp')
    expect(root.path).toBe('/')
  })

  it('does nothing in a directory that was moved or replaced', async () => {
    const dir = await makeDirectory()
    await mkdir(join(dir, 'in'))
    await mkdir(join(dir, 'out'))
    await using target = await fs.target(join(dir, 'in', 'file'))
    await rename(join(dir, 'in'), join(dir, 'elsewhere'))
    await symlink('out', join(dir, 'in'))
    expect(await codeOf(target.write(bytes('x'), {}))).toBe('TARGET_MOVED')
    expect(await codeOf(target.read())).toBe('TARGET_MOVED')
    expect([await readdir(join(dir, 'out')), await readdir(join(dir, 'elsewhere'))]).toEqual([
      [],
      [],
    ])
  })

  it('takes away what writers that were killed left, and nothing else', async () => {
    const dir = await makeDirectory()
    const old = new Date(Date.now() - 2 * 3_600_000)
    const draft = (digit: string) => `.cordage-${digit.repeat(16)}.tmp`
    const names = [draft('a'), draft('b'), '.cordage-a.tmp', 'a.tmp', `x${draft('c')}`]
    for (const name of names) {
      await writeFile(join(dir, name), 'x')
      if (name !== draft('b')) await utimes(join(dir, name), old, old)
    }
    await mkdir(join(dir, draft('d')))
    await utimes(join(dir, draft('d')), old, old)
    await write(join(dir, 'new'), 'x')
    const kept = [...names.slice(1), draft('d'), 'new']
    expect((await readdir(dir)).sort()).toEqual(kept.sort())
  })

  it('follows no link that took the place of the file', async () => {
    const dir = await makeDirectory()
    await writeFile(join(dir, 'secret'), 'secret')
    await writeFile(join(dir, 'file'), 'x')
    await using target = await fs.target(join(dir, 'file'))
    await rename(join(dir, 'file'), join(dir, 'old'))
    await symlink('secret', join(dir, 'file'))
    expect(await codeOf(target.read())).toBe('TARGET_MOVED')
    expect(await codeOf(target.stat())).toBe('TARGET_MOVED')
    expect(await codeOf(target.write(bytes('y'), {}))).toBe('TARGET_MOVED')
    expect(await codeOf(target.list())).toBe('TARGET_MOVED')
    expect(await readFile(join(dir, 'secret'), 'utf8')).toBe('secret')
  })

  it('closes its directory only after what still runs, and refuses use after that', async () => {
    const dir = await makeDirectory()
    const target = await fs.target(join(dir, 'file'))
    const writing = target.write(bytes('x'), {})
    await target[Symbol.asyncDispose]()
    await writing
    expect(await readFile(join(dir, 'file'), 'utf8')).toBe('x')
    expect(() => target.read()).toThrow('after it was disposed')
  })
})
