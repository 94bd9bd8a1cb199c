import { join } from 'node:path'
import type { Io } from '@cordage/core/store'
import { makeFolder } from './durable.ts'
import { digest } from './frame.ts'
import { errorCode, placeFile, readWhole, writeWhole } from './io.ts'
import type { SegmentFile } from './segment.ts'
import { emptyFrame } from './zstd.ts'

/** Bytes of a segment, from `from` on, that no seal vouches for. */
export interface Ragged {
  readonly file: SegmentFile
  readonly from: number
}

/**
 * Keeps a copy of the bytes of `path` after `from` in the session's `aside` folder. Named by
 * content, so that doing it twice makes one file. Returns where it is.
 */
export async function setAside(
  io: Io,
  directory: string,
  { file, from }: Ragged,
): Promise<string | undefined> {
  const bytes = (await readWhole(io, file.path)).subarray(from)
  if (bytes.length === 0) return undefined
  const folder = join(directory, 'aside')
  await makeFolder(io, folder)
  const name = `${file.number}-${from}-${digest(bytes).slice(0, 16)}.bin`
  const path = join(folder, name)
  if ((await io.stat(path))?.size !== bytes.length) {
    await placeFile(io, path, bytes)
    await io.syncDirectory(folder)
  }
  return path
}

/**
 * Cuts what no seal vouches for off a segment, once a copy of it is safe. Where nothing is left,
 * a frame without text is put there: stock zstd takes no empty file.
 */
export async function trim(io: Io, directory: string, ragged: Ragged): Promise<void> {
  const { file, from } = ragged
  try {
    const aside = await setAside(io, directory, ragged)
    if (aside === undefined && from > 0) return
    const opened = await io.open(file.path, 'write')
    try {
      await opened.truncate(from)
      if (from === 0 && file.encoding === 'zstd') await writeWhole(opened, emptyFrame, 0)
    } finally {
      await opened.close()
    }
  } catch (error) {
    // The seal already keeps these bytes from being facts; cutting them only helps stock tools.
    if (errorCode(error) === undefined) throw error
  }
}
