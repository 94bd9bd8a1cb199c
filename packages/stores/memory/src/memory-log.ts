import { createHash } from 'node:crypto'
import { sessionError, type Fact, type SessionHeader } from '@cordage/core/session'
import { storeError, type Refreshed, type SessionLog, type Snapshot } from '@cordage/core/store'
import { asJson, LOCATION, type Stored } from './stored.ts'

export class MemoryLog implements SessionLog {
  readonly header: SessionHeader
  readonly mode: 'write' | 'read'
  readonly snapshot: Snapshot | undefined
  readonly tail: readonly Fact[]
  readonly live: readonly unknown[]
  readonly notices = []
  wantsSnapshot: boolean
  readonly #stored: Stored
  #closed = false
  #seen: { facts: number; live: readonly unknown[] }

  constructor(stored: Stored, mode: 'write' | 'read') {
    this.header = stored.header
    this.mode = mode
    this.snapshot = stored.snapshot
    this.tail = stored.facts.slice(stored.snapshot?.seq ?? 0)
    this.live = [...stored.live]
    // Each writer begins with a snapshot, so that opening stays cheap as the session grows.
    this.wantsSnapshot = mode === 'write'
    this.#stored = stored
    this.#seen = { facts: stored.facts.length, live: this.live }
    if (mode === 'write') stored.owner = this
  }

  async append(
    facts: readonly Fact[],
    options: { sync: boolean; snapshot?: Snapshot },
  ): Promise<void> {
    this.#assertOwner()
    const texts = facts.map((fact) => JSON.stringify(fact))
    if (options.snapshot) this.#stored.snapshot = asJson(options.snapshot)
    this.wantsSnapshot = false
    this.#stored.updatedAt = Date.now()
    for (const text of texts) {
      this.#stored.facts.push(JSON.parse(text) as Fact)
      this.#stored.bytes += text.length
    }
  }

  appendLive(lines: readonly unknown[]): void {
    if (this.#isOwner()) this.#stored.live.push(...asJson(lines))
  }

  rotateLive(): void {
    if (this.#isOwner()) this.#stored.live = []
  }

  async *read(from: number): AsyncIterable<Fact> {
    const { facts } = this.#stored
    for (let seq = from; seq < facts.length; seq += 1) {
      const fact = facts[seq]
      if (fact) yield fact
    }
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    this.#assertOwner()
    const hash = createHash('sha256').update(bytes).digest('hex')
    this.#stored.blobs.set(hash, Uint8Array.from(bytes))
    return hash
  }

  async getBlob(hash: string): Promise<Uint8Array> {
    const bytes = this.#stored.blobs.get(hash)
    if (!bytes) throw storeError('BLOB_MISSING', { id: this.header.id, hash })
    return Uint8Array.from(bytes)
  }

  async refresh(): Promise<Refreshed> {
    if (this.mode === 'write') return { facts: [], live: [] }
    const { facts, live, deleted } = this.#stored
    if (deleted) throw sessionError('SESSION_NOT_FOUND', { id: this.header.id, location: LOCATION })
    const seen = this.#seen
    this.#seen = { facts: facts.length, live: [...live] }
    // Lines are never changed: a lane that begins with another one was emptied meanwhile.
    const goesOn = seen.live.every((line, index) => line === live[index])
    return { facts: facts.slice(seen.facts), live: live.slice(goesOn ? seen.live.length : 0) }
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#stored.owner === this) this.#stored.owner = undefined
  }

  #isOwner(): boolean {
    return this.#stored.owner === this
  }

  #assertOwner(): void {
    const { id } = this.header
    if (this.mode === 'read') throw sessionError('SESSION_READ_ONLY', { id })
    if (this.#closed) throw sessionError('SESSION_CLOSED', { id })
    if (!this.#isOwner()) throw storeError('STORE_FENCED', { id })
  }
}
