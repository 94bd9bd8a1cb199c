import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { renameSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { takeLock, type Lock } from '../boot/lock.ts'
import { makeDirectory } from '../boot/make-directory.ts'
import { pluginError } from './errors.ts'

/** What npm and this file make; a folder with nothing else is removed with its last plugin. */
const OURS = ['node_modules', 'package.json', 'package-lock.json', 'tarballs']
/** A swap is two renames. */
const SWAP_MS = 1_000

const lockOf = (folder: string) => `${folder}.lock`
const workOf = (folder: string) => `${folder}.changing`

/**
 * Changes the plugins of a profile as a whole: `change` works on a copy, which takes the place of
 * the folder when it returns `keep`. One process at a time; throws `PLUGIN_BUSY`.
 */
export async function changePlugins<T>(
  folder: string,
  change: (copy: string) => Promise<{ keep: boolean; value: T }>,
): Promise<T> {
  const lock = claim(folder)
  try {
    restore(folder)
    // The name of nobody else's: npm of a process that was killed may go on writing into its own.
    const work = join(workOf(folder), randomUUID())
    const copy = join(work, 'copy')
    makeDirectory(copy)
    // As they are: links of npm are relative, and those of people are theirs.
    if (existsSync(folder)) cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
    const { keep, value } = await change(copy)
    if (!lock.isHeld()) throw busy(folder, 0)
    if (keep) swap(copy, folder)
    return value
  } finally {
    clean(folder, lock)
  }
}

/**
 * Puts back what a process that was killed in the middle of a swap had moved away, and waits for
 * one that is in the middle of it. Whoever reads plugins calls it first.
 */
export function recoverPlugins(folder: string): void {
  const until = Date.now() + SWAP_MS
  while (!existsSync(folder) && movedAway(folder) !== undefined && Date.now() < until) {
    try {
      const lock = takeLock(lockOf(folder))
      if (!('busy' in lock)) return recover(folder, lock)
    } catch {
      // Nothing can be written here; the plugins are not there then, and doctor says so.
      return
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}

function recover(folder: string, lock: Lock): void {
  try {
    restore(folder)
  } finally {
    clean(folder, lock)
  }
}

function claim(folder: string): Lock {
  const lock = takeLock(lockOf(folder))
  if ('busy' in lock) throw busy(folder, lock.busy)
  return lock
}

function busy(folder: string, pid: number): Error {
  return pluginError('PLUGIN_BUSY', { pid: pid || 'Another', profile: basename(folder) })
}

function swap(copy: string, folder: string): void {
  const old = join(dirname(copy), 'old')
  if (existsSync(folder)) renameSync(folder, old)
  const left = readdirSync(copy)
  const inUse = existsSync(join(copy, 'node_modules')) || hasPlugins(copy)
  if (inUse || left.some((name) => !OURS.includes(name))) renameSync(copy, folder)
  // From here on it is done: nobody puts back what is half removed.
  if (existsSync(old)) renameSync(old, join(dirname(copy), 'done'))
}

function movedAway(folder: string): string | undefined {
  const work = workOf(folder)
  const names = existsSync(work) ? readdirSync(work) : []
  return names.map((name) => join(work, name, 'old')).find((old) => existsSync(old))
}

function restore(folder: string): void {
  const old = movedAway(folder)
  if (old !== undefined && !existsSync(folder)) renameSync(old, folder)
}

function clean(folder: string, lock: Lock): void {
  if (!lock.isHeld()) return
  rmSync(workOf(folder), { recursive: true, force: true, maxRetries: 5 })
  lock.release()
  removeEmpty(dirname(folder))
}

function hasPlugins(copy: string): boolean {
  const manifest = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as {
    cordage?: { plugins?: string[] }
  }
  return (manifest.cordage?.plugins ?? []).length > 0
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It holds something, which is what it is for.
  }
}
