import { join } from 'node:path'
import { sessionError } from '@cordage/core/session'
import type { Io } from '@cordage/core/store'
import { jsonlError } from './errors.ts'
import { errorCode } from './io.ts'
import { isDraftOf } from './new-log.ts'
import { leasePath, type JsonlStoreOptions } from './options.ts'
import { Reach } from './reach.ts'
import { reasonOf } from './system-error.ts'

/**
 * Removes all that a session's folder holds, unless `wanted`, asked when nobody else can come to
 * own it any more, says no: then it gives false. Throws `SESSION_BUSY`, `STORE_REMOVE_FAILED`.
 */
export async function removeSession(
  options: JsonlStoreOptions,
  id: string,
  wanted: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  const remove = () => removeFolder(options, id, wanted)
  return options.removing ? options.removing(id, remove) : remove()
}

async function removeFolder(
  { io, directory: root, catalog }: JsonlStoreOptions,
  id: string,
  wanted: () => Promise<boolean>,
): Promise<boolean> {
  const directory = join(root, id)
  const lock = await io.lock(leasePath(directory), false)
  if (!lock) throw sessionError('SESSION_BUSY', { id })
  try {
    if (!(await wanted())) return false
    const trash = join(root, `.trash-${id}-${Date.now()}`)
    // Gone at once for everybody, even where removing its files stops half-way.
    await removing(id, directory, () => io.rename(directory, trash))
    await removing(id, trash, async () => {
      await io.syncDirectory(root)
      await io.remove(trash)
    })
    await emptyTrash(io, root)
    await removeDrafts(io, root, id)
  } finally {
    await lock.release()
  }
  await catalog?.forget(id)
  return true
}

/** Ends deletions that were cut short, as far as the permissions allow. */
export async function emptyTrash(io: Io, root: string, reach = new Reach()): Promise<void> {
  for (const { name } of await io.list(root)) {
    const path = join(root, name)
    if (name.startsWith('.trash-')) await reach.to(path, () => io.remove(path))
  }
}

/** What an import that died had brought over, and another one then brought as a whole. */
async function removeDrafts(io: Io, root: string, id: string): Promise<void> {
  for (const { name } of await io.list(root)) {
    const path = join(root, name)
    if (!isDraftOf(id, name) || (await io.locked(leasePath(path)))) continue
    await removing(id, path, () => io.remove(path))
  }
}

async function removing(id: string, location: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    const values = { id, location, reason: reasonOf(error) }
    throw jsonlError('STORE_REMOVE_FAILED', values, { cause: error })
  }
}
