import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { takeLock, type Lock } from '../src/boot/lock.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordage-lock-'))
  file = join(folder, 'below/it.lock')
})
afterEach(() => rmSync(folder, { recursive: true }))

function taken(): Lock {
  const lock = takeLock(file)
  if ('busy' in lock) throw new Error(`process ${lock.busy} has it`)
  return lock
}

/** Adds one to a number in a file so often, which is lost where two do it at once. */
const COUNT = `
const { takeLock } = await import(process.argv[1])
const { readFileSync, writeFileSync } = await import('node:fs')
const [lockFile, file, times] = process.argv.slice(2)
for (let left = Number(times); left > 0;) {
  const lock = takeLock(lockFile)
  if ('busy' in lock) { await new Promise((done) => setTimeout(done, 1)); continue }
  writeFileSync(file, String(Number(readFileSync(file, 'utf8')) + 1))
  lock.release()
  left -= 1
}`

describe('a lock', () => {
  it('lets one process in at a time', async () => {
    const counter = join(folder, 'counter')
    writeFileSync(counter, '0')
    const source = new URL('../src/boot/lock.ts', import.meta.url).href
    const args = ['--input-type=module', '-e', COUNT, source, file, counter, '20']
    const run = promisify(execFile)
    await Promise.all(Array.from({ length: 3 }, () => run(process.execPath, args)))
    expect(readFileSync(counter, 'utf8')).toBe('60')
    expect(readdirSync(join(folder, 'below'))).toEqual([])
  })

  it('names who has it, and is free again when that one lets it go', () => {
    const lock = taken()
    expect(takeLock(file)).toEqual({ busy: process.pid })
    lock.release()
    taken().release()
  })

  it.each([
    ['a process that is dead', '999999999 a', 0],
    ['one before with the number of this one', `${process.pid} a`, 0],
    ['a living one that has not touched it for long', `${process.ppid} a`, 3600],
    ['nobody who ever wrote a name', '', 3600],
  ])('is taken from %s', (_, name, ageSeconds) => {
    taken().release()
    writeFileSync(file, name)
    const then = Date.now() / 1000 - ageSeconds
    utimesSync(file, then, then)
    const lock = taken()
    expect(lock.isHeld()).toBe(true)
    lock.release()
    expect(readdirSync(join(folder, 'below'))).toEqual([])
  })

  it.each([
    ['a living process', `${process.ppid} a`],
    ['one that is about to write its name', ''],
  ])('is left to %s', (_, name) => {
    taken().release()
    writeFileSync(file, name)
    expect(takeLock(file)).toHaveProperty('busy')
    expect(readFileSync(file, 'utf8')).toBe(name)
  })

  it('tells the one from whom it was taken, and leaves it to the other', () => {
    const lock = taken()
    writeFileSync(file, '1 another')
    expect(lock.isHeld()).toBe(false)
    lock.release()
    expect(readFileSync(file, 'utf8')).toBe('1 another')
  })
})
