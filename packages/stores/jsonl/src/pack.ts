import { sessionError } from '@cordage/core/session'
import { type Io, storeError } from '@cordage/core/store'
import { setAside } from './aside.ts'
import { readFacts } from './facts.ts'
import { formatSteps } from './format-steps.ts'
import { settleLog } from './log-folder.ts'
import { leasePath, type JsonlStoreOptions } from './options.ts'
import { raggedOf, readPast } from './past.ts'
import { rewriteLog } from './rewrite.ts'
import { listSegments, openSegments } from './segment.ts'

/** What a log is called that was packed, until the new one has its place. */
export const packedName = 'log.packed'

/** Bytes of a log before and after it was packed. */
export interface Packed {
  readonly before: number
  readonly after: number
}

/**
 * Writes a log anew with many facts to a frame, which takes a fraction of the bytes that a frame
 * for each takes. Throws `SESSION_BUSY`, `STORE_DAMAGED`.
 */
export async function packLog(
  options: JsonlStoreOptions,
  id: string,
  directory: string,
): Promise<Packed> {
  const { io, steps = formatSteps } = options
  const lock = await io.lock(leasePath(directory), false)
  if (!lock) throw sessionError('SESSION_BUSY', { id })
  try {
    await settleLog(io, directory)
    const before = await bytesOf(io, directory)
    const open = () => openSegments(io, directory, id, { steps })
    const { header, snapshot, torn, damage } = await readPast(await open(), id)
    if (damage !== undefined) throw storeError('STORE_DAMAGED', { id, reason: damage })
    for (const tail of torn) await setAside(io, directory, raggedOf(tail))
    async function* facts() {
      yield* readFacts(await open(), id, 0)
    }
    const kept = await rewriteLog(
      options,
      { directory, lock, keepAs: packedName },
      { header, facts, snapshot },
    )
    await io.remove(kept)
    await io.syncDirectory(directory)
    return { before, after: await bytesOf(io, directory) }
  } finally {
    await lock.release()
  }
}

async function bytesOf(io: Io, directory: string): Promise<number> {
  const files = await listSegments(io, directory)
  const stats = await Promise.all(files.map(({ path }) => io.stat(path)))
  return stats.reduce((sum, stat) => sum + (stat?.size ?? 0), 0)
}
