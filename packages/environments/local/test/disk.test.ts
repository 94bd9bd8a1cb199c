import { execFileSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needs } from '../../../../test/fixture/needs.ts'
import { fileError } from '../src/failure.ts'
import { createFileSystem } from '../src/file-system.ts'
import { makeDirectory, never } from './fixture.ts'

const fs = createFileSystem(never)

async function mountSmallDisk(): Promise<string> {
  const dir = await makeDirectory()
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', dir])
  onTestFinished(() => void execFileSync('umount', [dir]))
  return dir
}

it('leaves a file and its directory as they were when the disk is full', async (test) => {
  needs(test, 'mount')
  const dir = await mountSmallDisk()
  const path = join(dir, 'file')
  await writeFile(path, 'before')
  const target = await fs.target(path)
  await expect(target.write(Buffer.alloc(200_000), {})).rejects.toMatchObject({ code: 'DISK_FULL' })
  expect([await readFile(path, 'utf8'), await readdir(dir)]).toEqual(['before', ['file']])
  execFileSync('mount', ['-o', 'remount,ro', dir])
  await expect(target.write(Buffer.from('x'), {})).rejects.toThrow('read-only')
  await target[Symbol.asyncDispose]()
})

it.each([
  ['ENOENT', 'FILE_NOT_FOUND'],
  ['EACCES', 'FILE_DENIED'],
  ['EROFS', 'FILE_DENIED'],
  ['ENOSPC', 'DISK_FULL'],
  ['EDQUOT', 'DISK_FULL'],
  ['ENAMETOOLONG', 'PATH_INVALID'],
  ['EIO', 'FILE_FAILED'],
])('calls %s %s and keeps the cause', (errno, code) => {
  const cause = Object.assign(new Error('raw text'), { code: errno })
  expect(fileError(cause, '/a')).toMatchObject({ code, cause, details: { path: '/a' } })
})
