import {
  deepFreeze,
  SessionFold,
  type Fact,
  type NewFact,
  type SessionHeader,
  type SurfaceEntry,
} from '@cordage/core/session'
import type { SessionLog, Snapshot, StagedLog, Store } from '@cordage/core/store'

const BATCH_FACTS = 500
const BATCH_CHARS = 1024 * 1024

/** A session that is being written with the times that its facts had elsewhere. */
export class SessionWriter {
  readonly #log: SessionLog | StagedLog
  /** What the log holds, and no more: a snapshot is of what stands before its batch. */
  readonly #written = new SessionFold()
  #waiting: Fact[] = []
  #chars = 0
  #next = 0
  #time: number

  private constructor(log: SessionLog | StagedLog) {
    this.#log = log
    this.#time = log.header.createdAt
  }

  /** A new session, which is there from `close` on. */
  static async create(store: Store, header: SessionHeader): Promise<SessionWriter> {
    return new SessionWriter(await store.stage(header))
  }

  /** Goes on with a session that is there. Throws `SESSION_BUSY`. */
  static async goOn(store: Store, id: string): Promise<SessionWriter> {
    const writer = new SessionWriter(await store.open(id, { mode: 'write' }))
    for await (const fact of writer.#log.read(0)) writer.#written.add(deepFreeze(fact))
    writer.#next = writer.#written.nextSeq
    return writer
  }

  get header(): SessionHeader {
    return this.#log.header
  }

  get facts(): number {
    return this.#next
  }

  /** The time of the last fact. */
  get time(): number {
    return this.#time
  }

  /** Adds a fact, at the time of the one before it where it has none; gives its `seq`. */
  add(fact: NewFact, time: number | undefined): number {
    const seq = this.#next
    this.#time = time ?? this.#time
    // In the order in which our own facts have their members; unknown ones come behind.
    const { type, v, data, ...others } = fact
    this.#waiting.push(deepFreeze({ seq, time: this.#time, type, v, data, ...others }))
    this.#next += 1
    return seq
  }

  /** Writes what is waiting once it is much; `weight` is about how many characters came to it. */
  async settle(weight: number): Promise<void> {
    this.#chars += weight
    if (this.#waiting.length >= BATCH_FACTS || this.#chars >= BATCH_CHARS) await this.flush()
  }

  async flush(): Promise<void> {
    await this.#write({ sync: false })
  }

  /** What a model would see of all that was added. */
  async surface(): Promise<readonly SurfaceEntry[]> {
    await this.flush()
    return this.#written.surface
  }

  /** What all that was added comes to. */
  async fold(): Promise<SessionFold> {
    await this.flush()
    return this.#written
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    return this.#log.putBlob(bytes)
  }

  /** Writes the rest, on the disk for good, and lets go of the session. */
  async close(): Promise<void> {
    // One snapshot, at the end: nobody opens what is not whole yet.
    const state = this.#log.wantsSnapshot ? this.#written.snapshot() : undefined
    const snapshot = state === undefined ? {} : { snapshot: { seq: state.nextSeq, state } }
    await this.#write({ sync: true, ...snapshot })
    await ('publish' in this.#log ? this.#log.publish() : this.#log.close())
  }

  /** Leaves nothing of a new session, and what was there before as far as it has come. */
  async abandon(): Promise<void> {
    await this.#log.close()
  }

  async #write(options: { readonly sync: boolean; readonly snapshot?: Snapshot }): Promise<void> {
    const facts = this.#waiting
    this.#waiting = []
    this.#chars = 0
    if (facts.length === 0 && !options.sync) return
    await this.#log.append(facts, options)
    for (const fact of facts) this.#written.add(fact)
  }
}
