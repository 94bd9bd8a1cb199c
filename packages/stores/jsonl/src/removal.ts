import { join } from 'node:path'
import { sessionError } from '@cordage/core/session'
import type { Io } from '@cordage/core/store'
import { leasePath, type JsonlStoreOptions } from './options.ts'

/**
 * Removes all that a session's folder holds, unless `wanted`, asked when nobody else can come to
 * own it any more, says no: then it gives false. Throws `SESSION_BUSY`.
 */
export async function removeSession(
  { io, directory: root, catalog }: JsonlStoreOptions,
  id: string,
  wanted: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  const directory = join(root, id)
  const lock = await io.lock(leasePath(directory), false)
  if (!lock) throw sessionError('SESSION_BUSY', { id })
  try {
    if (!(await wanted())) return false
    // Gone at once for everybody, even where removing its files stops half-way.
    await io.rename(directory, join(root, `.trash-${id}-${Date.now()}`))
    await io.syncDirectory(root)
    await emptyTrash(io, root)
  } finally {
    await lock.release()
  }
  await catalog?.forget(id)
  return true
}

/** Ends deletions that were cut short. Gives how many there were. */
export async function emptyTrash(io: Io, root: string): Promise<number> {
  const names = (await io.list(root)).map(({ name }) => name)
  const trash = names.filter((name) => name.startsWith('.trash-'))
  for (const name of trash) await io.remove(join(root, name))
  return trash.length
}
