import { constants, type BigIntStats } from 'node:fs'
import { access, link, open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { environmentError, type FileVersion } from '@cordage/core/environment'
import { newDraft, removeLeftDrafts } from './drafts.ts'
import { errnoOf, fileError } from './failure.ts'
import type { Place } from './locate.ts'
import { assertRegular, currentVersion, inspect } from './read-file.ts'
import { contentVersion, identityVersion, SMALL_BYTES } from './version.ts'

export interface WriteOptions {
  readonly expect?: FileVersion | 'absent'
  readonly mode?: number
}

const WRITE_FLAGS =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

/** Writers of this process to one path wait for each other, so that only one meets its `expect`. */
const writing = new Map<string, Promise<unknown>>()

export async function writeContent(
  place: Place,
  bytes: Uint8Array,
  options: WriteOptions,
): Promise<FileVersion> {
  const before = writing.get(place.path) ?? Promise.resolve()
  const own = before.then(() => replace(place, bytes, options))
  const settled = own.catch(() => {})
  writing.set(place.path, settled)
  try {
    return await own
  } catch (error) {
    throw fileError(error, place.path)
  } finally {
    if (writing.get(place.path) === settled) writing.delete(place.path)
  }
}

async function replace(
  place: Place,
  bytes: Uint8Array,
  options: WriteOptions,
): Promise<FileVersion> {
  const { directory, name } = place
  await directory.verify()
  const found = await inspect(place)
  await checkWritable(place, found, options)
  await removeLeftDrafts(directory)
  const draft = newDraft(directory)
  try {
    await writeDraft(place, draft, bytes, found, options)
    await checkExpected(place, options.expect)
    await directory.verify()
    if (options.expect === 'absent') await publishNew(place, draft, bytes, options)
    else await rename(draft, directory.at(name))
  } finally {
    // After a rename there is none.
    await unlink(draft).catch(() => {})
  }
  if (bytes.length <= SMALL_BYTES) return contentVersion(bytes)
  const after = await inspect(place)
  if (!after) throw environmentError('TARGET_MOVED', { path: place.path })
  return identityVersion(after)
}

async function checkWritable(
  place: Place,
  found: BigIntStats | undefined,
  options: WriteOptions,
): Promise<void> {
  if (found) {
    assertRegular(found, place.path)
    await checkPermission(place, found)
  }
  await checkExpected(place, options.expect)
}

/** Replacing needs no permission on the file itself, but a file protected by its mode stays. */
async function checkPermission({ directory, name, path }: Place, found: BigIntStats) {
  if ((found.mode & 0o222n) === 0n) {
    throw environmentError('FILE_DENIED', { path, reason: 'its mode has no write permission' })
  }
  await access(directory.at(name), constants.W_OK)
}

async function checkExpected(place: Place, expect: WriteOptions['expect']): Promise<void> {
  if (expect === undefined) return
  const { path } = place
  const found = await inspect(place)
  if (expect === 'absent') {
    if (found) throw environmentError('FILE_EXISTS', { path })
    return
  }
  if (!found || (await currentVersion(place, found)) !== expect) {
    throw environmentError('FILE_STALE', { path })
  }
}

async function writeDraft(
  place: Place,
  draft: string,
  bytes: Uint8Array,
  found: BigIntStats | undefined,
  options: WriteOptions,
): Promise<void> {
  // Until it has its owner and mode, nobody else may read what may be private.
  const handle = await openNew(place, draft, found ? 0o600 : (options.mode ?? 0o666))
  try {
    await handle.writeFile(bytes)
    if (found) await keepOwnerAndMode(handle, found, options)
  } finally {
    await handle.close()
  }
}

async function openNew(place: Place, at: string, mode: number): Promise<FileHandle> {
  try {
    return await open(at, WRITE_FLAGS, mode)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    await place.directory.verify()
    const reason = 'no file can be made in its directory'
    throw environmentError('FILE_DENIED', { path: place.path, reason }, { cause: error })
  }
}

async function keepOwnerAndMode(handle: FileHandle, found: BigIntStats, options: WriteOptions) {
  const own = await handle.stat({ bigint: true })
  if (own.uid !== found.uid || own.gid !== found.gid) {
    // Only root may give files away; the writer then owns what it wrote, as with other editors.
    await handle.chown(Number(found.uid), Number(found.gid)).catch(() => {})
  }
  // As after any write, the file no longer runs with the rights of its owner.
  await handle.chmod(options.mode ?? Number(found.mode & 0o1777n))
}

/** Puts the draft where nothing is, and fails if there is something by now. */
async function publishNew(
  place: Place,
  draft: string,
  bytes: Uint8Array,
  options: WriteOptions,
): Promise<void> {
  const at = place.directory.at(place.name)
  try {
    await link(draft, at)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === undefined || !linkless.has(errno)) throw error
    const handle = await openNew(place, at, options.mode ?? 0o666)
    try {
      await handle.writeFile(bytes)
    } finally {
      await handle.close()
    }
  }
}

/** How file systems without hard links say so. */
const linkless = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS', 'EXDEV'])
