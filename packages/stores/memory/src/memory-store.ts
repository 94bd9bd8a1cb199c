import { sessionError, type SessionHeader } from '@cordage/core/session'
import { checkSessionId, storeError, type Store } from '@cordage/core/store'
import type {
  ListOptions,
  Salvage,
  SessionLog,
  SessionSummary,
  StagedLog,
} from '@cordage/core/store'
import { MemoryLog } from './memory-log.ts'
import { isOwned, LOCATION, newStored, type Stored } from './stored.ts'
import { summarise } from './summary.ts'

/** Sessions that are gone with the process. One writer each, as in every store. */
export class MemoryStore implements Store {
  readonly location = LOCATION
  readonly #sessions = new Map<string, Stored>()

  async create(header: SessionHeader): Promise<SessionLog> {
    const { id } = header
    this.#expectFree(id)
    const stored = newStored(header)
    this.#sessions.set(id, stored)
    return new MemoryLog(stored, 'write')
  }

  async stage(header: SessionHeader): Promise<StagedLog> {
    const { id } = header
    checkSessionId(id)
    const stored = newStored(header)
    const log = new MemoryLog(stored, 'write')
    const publish = async () => {
      await log.close()
      this.#expectFree(id)
      this.#sessions.set(id, stored)
    }
    return Object.assign(log, { publish })
  }

  async open(
    id: string,
    options: { mode: 'write' | 'read'; takeOver?: boolean },
  ): Promise<SessionLog> {
    const stored = this.#find(id)
    const mayOwn = options.mode === 'read' || options.takeOver || !isOwned(stored)
    if (!mayOwn) throw sessionError('SESSION_BUSY', { id })
    return new MemoryLog(stored, options.mode)
  }

  async list(options: ListOptions = {}): Promise<readonly SessionSummary[]> {
    const { project, limit, children = false, archived = false, idPrefix = '' } = options
    return [...this.#sessions.values()]
      .filter(({ header }) => project === undefined || header.project === project)
      .filter(({ header }) => header.id.toLowerCase().startsWith(idPrefix.toLowerCase()))
      .filter(({ header }) => children || header.depth === 0)
      .map((stored) => summarise(stored))
      .filter((summary) => archived || summary.archived !== true)
      .sort((a, b) => b.updatedAt - a.updatedAt || (a.header.id < b.header.id ? 1 : -1))
      .slice(0, limit)
  }

  async delete(id: string): Promise<void> {
    const stored = this.#find(id)
    if (isOwned(stored)) throw sessionError('SESSION_BUSY', { id })
    stored.deleted = true
    this.#sessions.delete(id)
  }

  async fork(
    id: string,
    header: SessionHeader,
    { before }: { before: number },
  ): Promise<SessionLog> {
    const source = this.#find(id)
    if (before > source.facts.length) {
      const reason = `it has ${source.facts.length} facts, and ${before} were asked for`
      throw storeError('STORE_DAMAGED', { id, reason })
    }
    const log = await this.create(header)
    const stored = this.#find(header.id)
    stored.facts.push(...source.facts.slice(0, before))
    for (const [hash, bytes] of source.blobs) stored.blobs.set(hash, bytes)
    stored.bytes = source.bytes
    await log.close()
    return this.open(header.id, { mode: 'write' })
  }

  async salvage(id: string): Promise<Salvage> {
    const { header, facts, blobs } = this.#find(id)
    return {
      header,
      facts: eachOf(facts),
      missing: [],
      blobs: eachOf([...blobs.values()]),
      lostBlobs: [],
    }
  }

  #expectFree(id: string): void {
    checkSessionId(id)
    if (this.#sessions.has(id)) throw storeError('STORE_ID_TAKEN', { id, location: LOCATION })
  }

  #find(id: string): Stored {
    const stored = this.#sessions.get(id)
    if (!stored) throw sessionError('SESSION_NOT_FOUND', { id, location: LOCATION })
    return stored
  }
}

async function* eachOf<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
