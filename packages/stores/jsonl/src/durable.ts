import { dirname } from 'node:path'
import type { Io } from '@cordage/core/store'
import { errorCode } from './io.ts'
import type { SegmentFile } from './segment.ts'

/**
 * A folder that no power cut takes the name of, nor those of the ones that had to be made for it.
 * What is there already is flushed too: who made it may not have come to that.
 */
export async function makeFolder(io: Io, path: string): Promise<void> {
  if (!(await io.stat(path))) {
    const above = dirname(path)
    if (!(await io.stat(above))) await makeFolder(io, above)
    await io.makeDirectory(path)
  }
  try {
    await io.syncDirectory(dirname(path))
  } catch (error) {
    // A folder that this user may not even look into is not one that was made here.
    if (errorCode(error) !== 'EACCES') throw error
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
