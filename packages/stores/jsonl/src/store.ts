import { join } from 'node:path'
import { sessionError } from '@cordage/core/session'
import { isSessionId, type Store } from '@cordage/core/store'
import { forkLog } from './fork.ts'
import { listSessions } from './listing.ts'
import { again } from './io.ts'
import { findLog } from './log-folder.ts'
import type { JsonlLog } from './log.ts'
import { createLog, stageLog } from './new-log.ts'
import { openToRead, openToWrite } from './opening.ts'
import type { JsonlStoreOptions } from './options.ts'
import { removeSession } from './removal.ts'
import { salvageLog } from './salvage.ts'
import { reading, writing } from './system-error.ts'
import { upkeepOf } from './upkeep.ts'

/** A store that keeps each session in a folder of its own. */
export interface JsonlStore extends Store {
  /** Closes every log that is still open for writing. */
  close(): Promise<void>
}

export function createJsonlStore(options: JsonlStoreOptions): JsonlStore {
  const open = new Set<JsonlLog>()
  const folder = (id: string) => folderOf(options, id)
  const keep = <Log extends JsonlLog>(log: (onClose: () => void) => Log) => {
    const kept: Log = log(() => open.delete(kept))
    open.add(kept)
    return kept
  }
  return {
    location: options.directory,
    async create(header) {
      const owned = await createLog(options, header)
      return keep(owned)
    },
    async stage(header) {
      return keep(await stageLog(options, header))
    },
    async open(id, { mode, takeOver = false }) {
      return reading(join(options.directory, id), async () => {
        const directory = await folder(id)
        if (mode === 'read') return again(() => openToRead(options, id, directory))
        return keep(await openToWrite(options, { id, directory, takeOver }))
      })
    },
    list: (filter = {}) => reading(options.directory, () => listSessions(options, filter)),
    async delete(id) {
      await folder(id)
      await writing(id, () => removeSession(options, id))
    },
    async fork(id, header, { before }) {
      return reading(join(options.directory, id), async () => {
        const source = { id, directory: await folder(id), before }
        await writing(header.id, () => again(() => forkLog(options, source, header)))
        const directory = join(options.directory, header.id)
        return keep(await openToWrite(options, { id: header.id, directory, takeOver: false }))
      })
    },
    async salvage(id) {
      const directory = await folder(id)
      return reading(directory, () => again(() => salvageLog(options, directory, id)))
    },
    upkeep: upkeepOf(options, folder),
    async close() {
      await Promise.all([...[...open].map((log) => log.close()), options.catalog?.close()])
    },
  }
}

/** The folder of a session that exists; an id that could leave the root names none. */
async function folderOf({ io, directory }: JsonlStoreOptions, id: string): Promise<string> {
  const folder = join(directory, id)
  const isSession =
    isSessionId(id) &&
    (await io.stat(folder))?.kind === 'directory' &&
    (await findLog(io, folder)) !== undefined
  if (!isSession) throw sessionError('SESSION_NOT_FOUND', { id, location: directory })
  return folder
}
