import { join } from 'node:path'
import { errorCode } from './io.ts'
import type { Io } from '@cordage/core/store'

/** Where a log is rewritten: it counts from the moment that no `log` is beside it. */
export const draftName = 'log.next'

/**
 * Where the segments of a session are: in `log`, or for the moment in which a rewritten log takes
 * its place, in what is about to.
 */
export async function findLog(io: Io, directory: string): Promise<string | undefined> {
  for (const folder of [join(directory, 'log'), join(directory, draftName, 'log')]) {
    if ((await io.stat(folder))?.kind === 'directory') return folder
  }
  const kept = await keptLog(io, directory)
  return kept === undefined ? undefined : join(directory, kept)
}

/** Ends what a rewrite that was cut short has begun. Only the owner of the lease may. */
export async function settleLog(io: Io, directory: string): Promise<void> {
  const log = join(directory, 'log')
  const draft = join(directory, draftName)
  const found = await findLog(io, directory)
  if (found !== undefined && found !== log) {
    await io.rename(found, log)
    await io.syncDirectory(directory)
  }
  if (await io.stat(draft)) await io.remove(draft)
}

/** The newest log that a rewritten one has replaced. */
async function keptLog(io: Io, directory: string): Promise<string | undefined> {
  try {
    const entries = await io.list(directory)
    const kept = entries.filter(({ name, kind }) => {
      return kind === 'directory' && name.startsWith('log.') && name !== draftName
    })
    return kept
      .map(({ name }) => name)
      .sort()
      .at(-1)
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined
    throw error
  }
}
