import { dirname, join } from 'node:path'
import type { FileSystem } from './file-system.ts'
import { inspect } from './inspect.ts'

/** The project of a directory: the nearest one above it that holds `.git`, else itself. */
export async function projectOf(fs: FileSystem, cwd: string): Promise<string> {
  for (let at = cwd; ; at = dirname(at)) {
    if (await exists(fs, join(at, '.git'))) return at
    if (dirname(at) === at) return cwd
  }
}

/** False also for what may not be looked at. */
export async function exists(fs: FileSystem, path: string): Promise<boolean> {
  return (await inspect(fs, path, async (target) => (await target.stat()) !== undefined)) ?? false
}
