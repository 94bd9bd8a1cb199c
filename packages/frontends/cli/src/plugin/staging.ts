import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pluginError } from './errors.ts'

/** What npm and this file make; a folder with nothing else is removed with its last plugin. */
const OURS = ['node_modules', 'package.json', 'package-lock.json', 'tarballs']

/**
 * Changes the plugins of a profile as a whole: `change` works on a copy, which takes the place of
 * the folder when it returns `keep`. One process at a time; throws `PLUGIN_BUSY`.
 */
export async function changePlugins<T>(
  folder: string,
  change: (copy: string) => Promise<{ keep: boolean; value: T }>,
): Promise<T> {
  const work = `${folder}.changing`
  const [copy, old] = [join(work, 'copy'), join(work, 'old')]
  claim(work, basename(folder))
  try {
    mkdirSync(copy)
    // As they are: links of npm are relative, and those of people are theirs.
    if (existsSync(folder)) cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
    const { keep, value } = await change(copy)
    if (keep) swap(copy, folder, old)
    return value
  } finally {
    rmSync(work, { recursive: true, force: true })
    removeEmpty(dirname(folder))
  }
}

function claim(work: string, profile: string): void {
  mkdirSync(dirname(work), { recursive: true, mode: 0o700 })
  const owner = join(work, 'pid')
  try {
    mkdirSync(work, { mode: 0o700 })
  } catch {
    const pid = existsSync(owner) ? Number(readFileSync(owner, 'utf8')) : 0
    if (isAlive(pid)) throw pluginError('PLUGIN_BUSY', { pid, profile })
    // Whoever made it was killed; what it had not swapped in was never used.
    rmSync(work, { recursive: true, force: true })
    mkdirSync(work, { mode: 0o700 })
  }
  writeFileSync(owner, String(process.pid))
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function swap(copy: string, folder: string, old: string): void {
  if (existsSync(folder)) renameSync(folder, old)
  const left = readdirSync(copy)
  const inUse = existsSync(join(copy, 'node_modules')) || hasPlugins(copy)
  if (inUse || left.some((name) => !OURS.includes(name))) renameSync(copy, folder)
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
