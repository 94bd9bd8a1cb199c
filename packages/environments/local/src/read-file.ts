import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, type FileHandle } from 'node:fs/promises'
import { environmentError, type FileVersion } from '@cordage/core/environment'
import { assert } from '@cordage/core/kernel'
import { errnoOf, fileError } from './failure.ts'
import type { Place } from './locate.ts'
import { readUpTo, readVersion } from './version.ts'

/** More at once is refused: callers take ranges. */
const MAX_READ_BYTES = 64 * 1024 * 1024

// Not blocking, because some regular files of /proc and /sys wait for events.
const READ_FLAGS =
  constants.O_RDONLY |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOCTTY ?? 0)

export async function readContent(
  place: Place,
  range?: { start: number; end: number },
): Promise<{ bytes: Uint8Array; version: FileVersion }> {
  const { start, end } = range ?? { start: 0, end: Number.MAX_SAFE_INTEGER }
  assert(
    Number.isSafeInteger(start) && start >= 0 && end >= start,
    `a range of ${place.path} goes from ${start} to ${end}`,
  )
  return withFile(place, async (handle, stats) => {
    const { version, content } = await readVersion(handle, stats)
    if (content) return { bytes: content.subarray(start, end), version }
    const last = stats.size > 0n ? Math.min(end, Number(stats.size)) : end
    const size = Math.max(last - start, 0)
    const known = stats.size > 0n || range
    if (known && size > MAX_READ_BYTES) throw tooLarge(place.path, size)
    const bytes = await readUpTo(handle, start, Math.min(size, MAX_READ_BYTES + 1), size)
    if (bytes.length > MAX_READ_BYTES) throw tooLarge(place.path, bytes.length)
    return { bytes, version }
  })
}

/** What is at `place`, undefined for nothing; a symbolic link there is `TARGET_MOVED`. */
export async function inspect({ directory, name, path }: Place): Promise<BigIntStats | undefined> {
  try {
    const stats = await lstat(directory.at(name), { bigint: true })
    if (stats.isSymbolicLink()) throw environmentError('TARGET_MOVED', { path })
    return stats
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw fileError(error, path)
  }
}

/** Throws unless `stats` is of a regular file. Opening a device may already have an effect. */
export function assertRegular(stats: BigIntStats, path: string): void {
  if (stats.isDirectory()) throw environmentError('FILE_IS_DIRECTORY', { path })
  if (stats.isFile()) return
  throw environmentError('PATH_INVALID', { path, reason: 'it is a device, a pipe or a socket' })
}

/** The version of what is at `place`, which `stats` describes. */
export async function currentVersion(place: Place, stats: BigIntStats): Promise<FileVersion> {
  assertRegular(stats, place.path)
  return withFile(place, async (handle, opened) => (await readVersion(handle, opened)).version)
}

async function withFile<T>(
  place: Place,
  use: (handle: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T> {
  const { directory, name, path } = place
  const found = await inspect(place)
  if (!found) throw environmentError('FILE_NOT_FOUND', { path })
  assertRegular(found, path)
  const handle = await open(directory.at(name), READ_FLAGS).catch((error) => {
    // It was no link a moment ago.
    if (errnoOf(error) === 'ELOOP') throw environmentError('TARGET_MOVED', { path })
    throw fileError(error, path)
  })
  try {
    const stats = await handle.stat({ bigint: true })
    assertRegular(stats, path)
    return await use(handle, stats)
  } catch (error) {
    throw fileError(error, path)
  } finally {
    await handle.close()
  }
}

function tooLarge(path: string, size: number): Error {
  return environmentError('FILE_TOO_LARGE', { path, size, max: MAX_READ_BYTES })
}
