import type { BigIntStats, Dirent } from 'node:fs'
import { readdir, unlink } from 'node:fs/promises'
import {
  environmentError,
  type DirectoryEntry,
  type FileStat,
  type Target,
} from '@cordage/core/environment'
import { isHarnessError } from '@cordage/core/error'
import { assert } from '@cordage/core/kernel'
import type { OpenDirectory } from './directory.ts'
import { fileError } from './failure.ts'
import type { Place } from './locate.ts'
import { currentVersion, inspect, readContent } from './read-file.ts'
import { identityVersion } from './version.ts'
import { writeContent } from './write-file.ts'

/** A target at `place`, whose directory it closes. */
export function createTarget(place: Place, openDirectory: OpenDirectory): Target {
  const running = new Set<Promise<unknown>>()
  let closed: Promise<void> | undefined

  const run = <T>(action: () => Promise<T>): Promise<T> => {
    assert(!closed, `the target ${place.path} was used after it was disposed`)
    const task = (async () => {
      await place.directory.verify()
      return action()
    })()
    running.add(task)
    // Whoever returns it out of an `await using` block only sees it after the target has closed.
    const forget = () => void running.delete(task)
    task.then(forget, forget)
    return task
  }

  return {
    path: place.path,
    stat: () => run(() => describe(place)),
    read: (range) => run(() => readContent(place, range)),
    write: (bytes, options) => run(() => writeContent(place, bytes, options)),
    list: () => run(() => listEntries(place, openDirectory)),
    remove: () => run(() => removeFile(place)),
    // The number of a closed handle is soon another file's, so closing waits for what still runs.
    [Symbol.asyncDispose]: () => {
      closed ??= Promise.allSettled(running).then(() => place.directory.close())
      return closed
    },
  }
}

async function describe(place: Place): Promise<FileStat | undefined> {
  const stats = await inspect(place)
  if (!stats) return undefined
  return {
    kind: kindOf(stats),
    size: Number(stats.size),
    mode: Number(stats.mode & 0o7777n),
    modifiedAt: Number(stats.mtimeMs),
    version: await versionOf(place, stats),
  }
}

async function versionOf(place: Place, stats: BigIntStats): Promise<string> {
  if (!stats.isFile()) return identityVersion(stats)
  try {
    return await currentVersion(place, stats)
  } catch (error) {
    // It exists, and that much may be said of a file that cannot be read.
    if (isHarnessError(error, 'FILE_DENIED')) return identityVersion(stats)
    throw error
  }
}

async function listEntries(
  place: Place,
  openDirectory: OpenDirectory,
): Promise<readonly DirectoryEntry[]> {
  const { directory, name, path } = place
  if (!(await inspect(place))) throw environmentError('FILE_NOT_FOUND', { path })
  const options = { follow: name === '.', as: path }
  const inner = await openDirectory(directory.at(name), options)
  try {
    if (inner.path !== path) throw environmentError('TARGET_MOVED', { path })
    const entries = await readdir(inner.at('.'), { withFileTypes: true })
    return entries
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw fileError(error, path)
  } finally {
    await inner.close()
  }
}

async function removeFile(place: Place): Promise<void> {
  const { directory, name, path } = place
  const stats = await inspect(place)
  if (!stats) throw environmentError('FILE_NOT_FOUND', { path })
  if (stats.isDirectory()) throw environmentError('FILE_IS_DIRECTORY', { path })
  await unlink(directory.at(name)).catch((error) => {
    throw fileError(error, path)
  })
}

function kindOf(entry: BigIntStats | Dirent): FileStat['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symlink' : 'other'
}
