import { join } from 'node:path'
import type { Io } from '@cordage/core/store'
import { makeFolder } from './durable.ts'
import { digest } from './frame.ts'
import { errorCode, placeFile, readWhole } from './io.ts'

/**
 * Keeps a copy of the bytes of `path` after `from` in the session's `aside` folder. Named by
 * content, so that doing it twice makes one file. Returns where it is.
 */
export async function setAside(
  io: Io,
  directory: string,
  source: { path: string; segment: number; from: number },
): Promise<string | undefined> {
  const bytes = (await readWhole(io, source.path)).subarray(source.from)
  if (bytes.length === 0) return undefined
  const folder = join(directory, 'aside')
  await makeFolder(io, folder)
  const name = `${source.segment}-${source.from}-${digest(bytes).slice(0, 16)}.bin`
  const path = join(folder, name)
  if ((await io.stat(path))?.size !== bytes.length) {
    await placeFile(io, path, bytes)
    await io.syncDirectory(folder)
  }
  return path
}

/** Cuts what no seal vouches for off a segment, once a copy of it is safe. */
export async function trim(
  io: Io,
  directory: string,
  source: { path: string; segment: number; from: number },
): Promise<void> {
  try {
    const aside = await setAside(io, directory, source)
    if (aside === undefined) return
    const file = await io.open(source.path, 'write')
    try {
      await file.truncate(source.from)
    } finally {
      await file.close()
    }
  } catch (error) {
    // The seal already keeps these bytes from being facts; cutting them only helps stock tools.
    if (errorCode(error) === undefined) throw error
  }
}
