import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** An absolute path without symbolic links, whether or not all of it exists yet. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // What does not exist is no link; what is above it may be.
    return dirname(path) === path ? path : join(realPathOf(dirname(path)), basename(path))
  }
}
