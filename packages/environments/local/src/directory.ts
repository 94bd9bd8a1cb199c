import { constants, readlinkSync, openSync, closeSync } from 'node:fs'
import { open, readlink, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '@cordage/core/kernel'
import { environmentError } from '@cordage/core/environment'
import { fileError } from './failure.ts'

/** A directory that names are looked up in, whatever happens to the path that led to it. */
export interface Directory {
  /** Where it really is. */
  readonly path: string
  /** A path for one system call on `name` that passes no symbolic link before `name` itself. */
  at(name: string): string
  /** A path by which a child process of this one gets to the directory. */
  forChild(): string
  /** Throws `TARGET_MOVED` unless the directory is still at `path`. */
  verify(): Promise<void>
  close(): Promise<void>
}

/** `follow` (the default) resolves a link at `path`; errors name it `as` that. */
export type OpenDirectory = (
  path: string,
  options?: { follow?: boolean; as?: string },
) => Promise<Directory>

// Node has no constant for it. Such a handle needs no read permission on the directory.
const O_PATH = 0o10000000

/** Whether this system shows open directories as paths, so that they can be held. */
export function canHoldDirectories(): boolean {
  if (process.platform !== 'linux') return false
  try {
    const fd = openSync('/', O_PATH | constants.O_DIRECTORY)
    const path = readlinkSync(`/proc/self/fd/${fd}`)
    closeSync(fd)
    return path === '/'
  } catch {
    // No /proc, or a seccomp filter: the weaker guarantee it is.
    return false
  }
}

/** Opens `path` and works through the open handle from then on. */
export const holdDirectory: OpenDirectory = async (path, { follow = true, as = path } = {}) => {
  const flags = O_PATH | constants.O_DIRECTORY | (follow ? 0 : constants.O_NOFOLLOW)
  const handle = await open(path, flags).catch((error) => {
    throw fileError(error, as)
  })
  const link = `/proc/self/fd/${handle.fd}`
  let inUse = true
  try {
    const real = await readlink(link)
    const [held, named] = await Promise.all([handle.stat(), stat(real).catch(() => undefined)])
    // The system prints removed and unreachable directories as if they were paths.
    if (held.ino !== named?.ino || held.dev !== named.dev) {
      throw environmentError('TARGET_MOVED', { path: as })
    }
    return {
      path: real,
      at: (name) => {
        assert(inUse, `${real} was used after it was closed`)
        return `${link}/${name}`
      },
      forChild: () => `/proc/${process.pid}/fd/${handle.fd}`,
      verify: async () => {
        if ((await readlink(link)) !== real) throw environmentError('TARGET_MOVED', { path: real })
      },
      close: async () => {
        inUse = false
        await handle.close()
      },
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Resolves `path` and checks before each use that it still resolves to itself. */
export const checkDirectory: OpenDirectory = async (path, { follow = true, as = path } = {}) => {
  const fail = (error: unknown): never => {
    throw fileError(error, as)
  }
  const real = await realpath(path).catch(fail)
  if (!follow && real !== path) throw environmentError('TARGET_MOVED', { path: as })
  const stats = await stat(real).catch(fail)
  if (!stats.isDirectory()) throw environmentError('FILE_NOT_DIRECTORY', { path: as })
  return {
    path: real,
    at: (name) => join(real, name),
    forChild: () => real,
    verify: async () => {
      const now = await realpath(real).catch(() => undefined)
      if (now !== real) throw environmentError('TARGET_MOVED', { path: real })
    },
    close: async () => {},
  }
}
