import { hash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { FileVersion } from '@cordage/core/environment'

/** Up to here the version is the content's; beyond, what the system says about the file. */
export const SMALL_BYTES = 4 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024

export function contentVersion(bytes: Uint8Array): FileVersion {
  return `sha256:${hash('sha256', bytes, 'base64url')}`
}

export function identityVersion(stats: BigIntStats): FileVersion {
  return `stat:${[stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':')}`
}

/** The version of an open file, and its content where that is small. */
export async function readVersion(
  handle: FileHandle,
  stats: BigIntStats,
): Promise<{ version: FileVersion; content?: Uint8Array }> {
  if (stats.size > SMALL_BYTES) return { version: identityVersion(stats) }
  const content = await readUpTo(handle, 0, SMALL_BYTES + 1, Number(stats.size))
  // Files of /proc say that they are empty.
  if (content.length > SMALL_BYTES) return { version: identityVersion(stats) }
  return { version: contentVersion(content), content }
}

/** At most `limit` bytes from `position`; `likely` is how many there probably are. */
export async function readUpTo(
  handle: FileHandle,
  position: number,
  limit: number,
  likely: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let total = 0
  while (total < limit) {
    const guess = Math.max(likely - total, 0) + 1
    const buffer = Buffer.allocUnsafe(Math.min(limit - total, Math.max(guess, 4096), CHUNK_BYTES))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position + total)
    if (bytesRead === 0) break
    chunks.push(buffer.subarray(0, bytesRead))
    total += bytesRead
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, total)
}
