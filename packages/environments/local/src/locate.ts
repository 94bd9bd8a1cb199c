import { mkdir, readlink } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { environmentError } from '@cordage/core/environment'
import { isHarnessError } from '@cordage/core/error'
import type { Directory, OpenDirectory } from './directory.ts'
import { errnoOf, fileError } from './failure.ts'

const MAX_LINKS = 40

/** A name in an open directory; `path` is both together. The name is no symbolic link. */
export interface Place {
  readonly directory: Directory
  readonly name: string
  readonly path: string
}

/** Agrees to a directory that is about to be made, or throws. */
export type AllowParent = (path: string) => void

/** Follows the symbolic links of `path`; the caller closes the directory of the result. */
export async function locate(
  open: OpenDirectory,
  path: string,
  allow?: AllowParent,
): Promise<Place> {
  checkPath(path)
  let at = resolve(path)
  for (let links = 0; links < MAX_LINKS; links++) {
    const directory = await openParent(open, dirname(at), allow)
    try {
      const name = basename(at) || '.'
      const link = await readLink(directory.at(name), at)
      if (link === undefined) return { directory, name, path: join(directory.path, name) }
      at = resolve(directory.path, link)
    } catch (error) {
      await directory.close()
      throw error
    }
    await directory.close()
  }
  throw environmentError('PATH_INVALID', { path, reason: 'its symbolic links go in a circle' })
}

function checkPath(path: string): void {
  const invalid = (reason: string) => environmentError('PATH_INVALID', { path, reason })
  if (path.includes('\0')) throw invalid('it contains a NUL character')
  if (!path.isWellFormed()) throw invalid('it is not valid Unicode')
  if (!isAbsolute(path)) throw invalid('it is not absolute')
}

async function openParent(
  open: OpenDirectory,
  path: string,
  allow: AllowParent | undefined,
): Promise<Directory> {
  try {
    return await open(path)
  } catch (error) {
    if (!allow || !isHarnessError(error, 'FILE_NOT_FOUND')) throw error
  }
  const parent = await locate(open, path, allow)
  try {
    allow(parent.path)
    return await makeDirectory(open, parent)
  } finally {
    await parent.directory.close()
  }
}

async function makeDirectory(open: OpenDirectory, place: Place): Promise<Directory> {
  const { directory, name, path } = place
  await directory.verify()
  try {
    await mkdir(directory.at(name))
  } catch (error) {
    // Somebody else made it meanwhile: what counts is what is opened next.
    if (errnoOf(error) !== 'EEXIST') throw fileError(error, path)
  }
  const made = await open(directory.at(name), { follow: false, as: path })
  if (made.path === path) return made
  await made.close()
  throw environmentError('TARGET_MOVED', { path })
}

/** The text of a symbolic link; undefined for everything else, also for nothing. */
async function readLink(at: string, path: string): Promise<string | undefined> {
  try {
    return await readlink(at)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'EINVAL' || errno === 'ENOENT' || errno === 'UNKNOWN') return undefined
    throw fileError(error, path)
  }
}
