import { open } from 'node:fs/promises'
import { constants } from 'node:fs'
import { environmentError, type FileSystem } from '@cordage/core/environment'
import type { Directory, OpenDirectory } from './directory.ts'
import { canHoldDirectories, checkDirectory, holdDirectory } from './directory.ts'
import { fileError } from './failure.ts'
import { fingerprint } from './fingerprint.ts'
import { globFiles } from './glob.ts'
import { grepFiles } from './grep.ts'
import { locate, type Place } from './locate.ts'
import { assertRegular, inspect } from './read-file.ts'
import { createTarget } from './target.ts'

/** Files of this machine; `closing` ends the searches that run. */
export function createFileSystem(
  closing: AbortSignal,
  guarantee: FileSystem['guarantee'] = canHoldDirectories() ? 'full' : 'partial',
): FileSystem {
  const openDirectory = guarantee === 'full' ? holdDirectory : checkDirectory
  return {
    guarantee,
    target: async (path, options = {}) => {
      return createTarget(await locate(openDirectory, path, options.parents), openDirectory)
    },
    fingerprint,
    glob: async (path, query, signal) => {
      const directory = await openExact(openDirectory, path)
      try {
        return await globFiles(directory, query, AbortSignal.any([signal, closing]))
      } finally {
        await directory.close()
      }
    },
    grep: async (path, query, signal) => {
      const either = AbortSignal.any([signal, closing])
      const place = await locate(openDirectory, path)
      try {
        if (place.path !== path) throw environmentError('TARGET_MOVED', { path })
        const stats = await inspect(place)
        if (!stats) throw environmentError('FILE_NOT_FOUND', { path })
        if (!stats.isDirectory()) {
          assertRegular(stats, path)
          return await withOpenFile(place, (stdin) => {
            return grepFiles({ path, cwd: place.directory.forChild(), stdin }, query, either)
          })
        }
        const directory = await openExact(openDirectory, path)
        try {
          return await grepFiles({ path, cwd: directory.forChild() }, query, either)
        } finally {
          await directory.close()
        }
      } finally {
        await place.directory.close()
      }
    },
  }
}

/** What was decided on is `path`, so nothing else is searched. */
async function openExact(openDirectory: OpenDirectory, path: string): Promise<Directory> {
  const directory = await openDirectory(path)
  if (directory.path === path) return directory
  await directory.close()
  throw environmentError('TARGET_MOVED', { path })
}

async function withOpenFile<T>(place: Place, use: (fd: number) => Promise<T>): Promise<T> {
  const { directory, name, path } = place
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)
  const handle = await open(directory.at(name), flags).catch((error) => {
    throw fileError(error, path)
  })
  try {
    return await use(handle.fd)
  } finally {
    await handle.close()
  }
}
