import { dirname } from 'node:path'
import type { Io } from '@cordage/core/store'
import type { SegmentFile } from './segment.ts'

/** Makes a folder with all that lead to it, so that no power cut takes their names away. */
export async function makeFolder(io: Io, path: string): Promise<void> {
  if (await io.stat(path)) return
  await makeFolder(io, dirname(path))
  await io.makeDirectory(path)
  try {
    await io.syncDirectory(dirname(path))
  } catch (error) {
    // As it is there, nobody would flush its name again.
    await io.remove(path)
    throw error
  }
}

/**
 * Brings to the disk what is about to be built upon: who wrote it may have been killed before the
 * flush, and what is read now may be in memory only.
 */
export async function flushPast(
  io: Io,
  directory: string,
  unsealed: readonly SegmentFile[],
): Promise<void> {
  for (const { path } of unsealed) {
    const file = await io.open(path, 'write')
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  }
  await io.syncDirectory(directory)
  await io.syncDirectory(dirname(directory))
}
