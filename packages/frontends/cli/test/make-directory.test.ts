import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeDirectory, makeHome } from '../src/boot/make-directory.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cordage-made-'))))
afterEach(() => rmSync(folder, { recursive: true }))

describe('a folder', () => {
  it('is made with those above it, for its owner only, and is left alone when it is there', () => {
    const path = join(folder, 'a/b')
    makeDirectory(path)
    makeDirectory(path)
    expect([join(folder, 'a'), path].map((at) => statSync(at).mode & 0o777)).toEqual([0o700, 0o700])
  })

  it('is made through a link to a folder', () => {
    symlinkSync(folder, join(folder, 'link'))
    makeDirectory(join(folder, 'link/a'))
    expect(statSync(join(folder, 'a')).isDirectory()).toBe(true)
  })

  it.runIf(process.platform === 'linux')('is refused at once where none can be made', () => {
    expect(() => makeDirectory('/proc/cordage/logs')).toThrow(/ENOENT/)
  })
})

describe('a home', () => {
  it.each(['file', 'file/below'])('that is a file (%s) is refused with the file', (at) => {
    const file = join(folder, 'file')
    const home = join(folder, at)
    writeFileSync(file, '')
    const message = `The home ${home} cannot be used: ${file} is not a folder.`
    expect(() => makeHome(home)).toThrow(message)
  })

  it.runIf(process.platform === 'linux')('that cannot be made is refused with its path', () => {
    expect(() => makeHome('/proc/cordage')).toThrow(
      'The home /proc/cordage cannot be used: no such file or directory.',
    )
  })
})
