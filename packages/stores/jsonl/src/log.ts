import { type Fact, sessionError, type SessionHeader } from '@cordage/core/session'
import type { Io, IoLock, Refreshed, SessionLog, Snapshot } from '@cordage/core/store'
import { Blobs } from './blobs.ts'
import { readFacts } from './facts.ts'
import type { LiveLane } from './live-lane.ts'
import { again, mayBeOfAnother } from './io.ts'
import type { FormatStep } from './format-steps.ts'
import type { LogPlace } from './log-place.ts'
import { Refresher } from './refresh.ts'
import { openSegments } from './segment.ts'
import { reading, unreadable, writing } from './system-error.ts'
import type { Writer } from './writer.ts'

/** What a log is opened with. */
export interface LogStart {
  readonly header: SessionHeader
  readonly snapshot?: Snapshot | undefined
  readonly tail: readonly Fact[]
  readonly live: readonly unknown[]
  readonly notices: readonly string[]
}

export interface LogOwner {
  readonly writer: Writer
  readonly lane: LiveLane
  readonly lock: IoLock
  readonly onClose: () => void
}

/** Makes the log, given what to call when it is closed. */
export type Opened = (onClose: () => void) => JsonlLog

/** A log on the disk, owned (`owner` given) or only looked at. */
export class JsonlLog implements SessionLog {
  readonly header: SessionHeader
  readonly mode: 'write' | 'read'
  readonly snapshot: Snapshot | undefined
  readonly tail: readonly Fact[]
  readonly live: readonly unknown[]
  readonly notices: readonly string[]
  readonly #io: Io
  readonly #directory: string
  readonly #steps: readonly FormatStep[]
  readonly #owner: LogOwner | undefined
  readonly #blobs: Blobs
  readonly #refresher: Refresher | undefined
  #work: Promise<void> = Promise.resolve()
  #closed: Promise<void> | undefined

  constructor(place: LogPlace, start: LogStart, owner?: LogOwner) {
    this.#io = place.io
    this.#directory = place.directory
    this.#steps = place.steps
    this.#owner = owner
    this.header = start.header
    this.mode = owner ? 'write' : 'read'
    this.snapshot = start.snapshot
    this.tail = start.tail
    this.live = start.live
    this.notices = start.notices
    this.#blobs = new Blobs(place.io, place.directory, start.header.id)
    if (owner) return
    const next = (start.snapshot?.seq ?? 0) + start.tail.length
    this.#refresher = new Refresher({ ...place, id: start.header.id }, { ...start, next })
  }

  get wantsSnapshot(): boolean {
    return this.#owner?.writer.wantsSnapshot ?? false
  }

  append(facts: readonly Fact[], options: { sync: boolean; snapshot?: Snapshot }): Promise<void> {
    const { writer } = this.#writable()
    const written = this.#work.then(() => writer.append(facts, options))
    this.#work = written.catch(() => {
      // Whoever appended is told; the next batch finds its place missing and says so.
    })
    return written
  }

  appendLive(lines: readonly unknown[]): void {
    if (!this.#closed && !this.#owner?.writer.fenced) this.#owner?.lane.append(lines)
  }

  rotateLive(): void {
    if (!this.#closed && !this.#owner?.writer.fenced) this.#owner?.lane.rotate()
  }

  async *read(from: number): AsyncGenerator<Fact> {
    await this.#work
    const unsynced = this.#owner?.writer.unsynced ?? []
    let next = from
    for await (const fact of this.#stored(from)) {
      yield fact
      next = fact.seq + 1
    }
    // After a flush that failed, these wait to be written again.
    for (const fact of unsynced) if (fact.seq === next) yield fact
  }

  async *#stored(from: number): AsyncGenerator<Fact> {
    const { id } = this.header
    let next = from
    for (let attempt = 1; ; attempt++) {
      const seals = this.#owner?.writer.seals ?? []
      try {
        const reader = await openSegments(this.#io, this.#directory, id, {
          seals,
          steps: this.#steps,
        })
        for await (const fact of readFacts(reader, id, next)) {
          yield fact
          next = fact.seq + 1
        }
        return
      } catch (error) {
        // A log that is written anew meanwhile goes on in other files.
        if (!mayBeOfAnother(error) || attempt === 3) throw unreadable(this.#directory, error)
      }
    }
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    this.#writable()
    return writing(this.header.id, () => this.#blobs.put(bytes))
  }

  getBlob(hash: string): Promise<Uint8Array> {
    return reading(this.#directory, () => this.#blobs.get(hash))
  }

  async refresh(): Promise<Refreshed> {
    const refresher = this.#refresher
    if (!refresher) return { facts: [], live: [] }
    return reading(this.#directory, () => again(() => refresher.refresh()))
  }

  close(): Promise<void> {
    this.#closed ??= writing(this.header.id, () => this.#close())
    return this.#closed
  }

  #writable(): LogOwner {
    const { id } = this.header
    if (this.#closed) throw sessionError('SESSION_CLOSED', { id })
    if (!this.#owner) throw sessionError('SESSION_READ_ONLY', { id })
    return this.#owner
  }

  async #close(): Promise<void> {
    const owner = this.#owner
    if (!owner) return
    await this.#work
    try {
      await owner.writer.close()
    } finally {
      await (owner.writer.fenced ? owner.lane.leave() : owner.lane.close())
        .finally(() => owner.lock.release())
        .finally(owner.onClose)
    }
  }
}
