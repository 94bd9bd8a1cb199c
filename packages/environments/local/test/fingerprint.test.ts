import { rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFileSystem } from '../src/file-system.ts'
import { makeDirectory, never } from './fixture.ts'

const { fingerprint } = createFileSystem(never)

test('nothing has an empty fingerprint, and what has just changed none', async () => {
  const path = join(await makeDirectory(), 'file')
  expect(await fingerprint(path)).toBe('')
  await symlink('nowhere', path)
  expect(await fingerprint(path)).toBe('')
  await rm(path)
  await writeFile(path, 'text')
  expect(await fingerprint(path)).toBeUndefined()
  const old = new Date(0)
  await utimes(path, old, old)
  expect(await fingerprint(path)).toBeUndefined()
  expect(await fingerprint(`${path}/below`)).toBeUndefined()
})

test('a file that nobody changes keeps its fingerprint, until another takes its place', async () => {
  const directory = await makeDirectory()
  const [path, other] = [join(directory, 'file'), join(directory, 'other')]
  await writeFile(path, 'text')
  await writeFile(other, 'text')
  await expect.poll(() => fingerprint(path), { timeout: 8_000, interval: 200 }).toMatch(/^stat:/)
  const before = await fingerprint(path)
  expect(await fingerprint(path)).toBe(before)
  await rename(other, path)
  expect(await fingerprint(path)).not.toBe(before)
})
