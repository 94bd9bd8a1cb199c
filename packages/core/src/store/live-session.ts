import { isHarnessError } from '../error/index.ts'
import { newId } from '../message/index.ts'
import type { Context } from '../kernel/index.ts'
import {
  assistantMessage,
  attemptFailed,
  coreEvent,
  deepFreeze,
  isLiveDelta,
  repairFacts,
  type SessionFold,
  sessionError,
  type AnyEventDefinition,
  type AppendOptions,
  type EventDefinition,
  type Fact,
  type LiveDelta,
  type NewFact,
  type ReportReducer,
  type Session,
  type SessionHeader,
  type SessionUpdate,
} from '../session/index.ts'
import type { Clock } from './clock.ts'
import { Follower } from './follower.ts'
import { LiveLane } from './live-lane.ts'
import { placeFacts } from './new-facts.ts'
import { openFold } from './open-fold.ts'
import type { Refreshed, SessionLog, Snapshot } from './store.ts'
import { Outbox } from './outbox.ts'
import { Watchers } from './watchers.ts'
import { storeError } from './errors.ts'
import { WriteLimit } from './write-limit.ts'
import { WriteQueue, type Batch } from './write-queue.ts'

export const WRITE_TIMEOUT_MS = 30_000

export interface LiveSessionOptions {
  readonly clock: Clock
  /** How long the store may take to write something; 30,000 unless given. */
  readonly writeTimeoutMs?: number
  /** The definitions that are known now besides those of core. */
  readonly lookup: (type: string) => AnyEventDefinition | undefined
  readonly report?: ReportReducer
  readonly onClosed?: (session: LiveSession) => void
}

/** A session over an open log. */
export class LiveSession implements Session {
  readonly header: SessionHeader
  readonly notices: readonly string[]
  readonly #log: SessionLog
  readonly #fold: SessionFold
  readonly #options: LiveSessionOptions
  readonly #limit: WriteLimit
  readonly #queue: WriteQueue
  readonly #lane: LiveLane
  readonly #watchers = new Watchers()
  readonly #outbox = new Outbox((updates) => this.#watchers.publish(updates))
  readonly #follower: Follower | undefined
  #leftOver: readonly unknown[]
  #attemptEnded = false
  #fenced: unknown
  #closing: Promise<void> | undefined

  private constructor(log: SessionLog, fold: SessionFold, options: LiveSessionOptions) {
    const { clock, writeTimeoutMs = WRITE_TIMEOUT_MS } = options
    this.header = log.header
    this.notices = log.notices
    this.#log = log
    this.#fold = fold
    this.#options = options
    this.#leftOver = log.live
    const expired = () => storeError('STORE_WRITE_TIMEOUT', { id: this.id })
    this.#limit = new WriteLimit(clock, writeTimeoutMs, expired)
    const limit = this.#limit
    this.#queue = new WriteQueue(log, { clock, limit }, (batch) => this.#written(batch))
    this.#lane = new LiveLane(log, clock)
    if (log.mode === 'write') return
    const wanted = () => this.#watchers.size > 0
    this.#follower = new Follower(log, clock, {
      wanted,
      tell: (news) => this.#hear(news),
      ended: (reason) => this.#watchers.end(reason),
    })
  }

  /** Takes `log` over, to close it with the session, or at once where it cannot be used. */
  static async open(log: SessionLog, options: LiveSessionOptions): Promise<LiveSession> {
    try {
      return new LiveSession(log, await openFold(log, options), options)
    } catch (error) {
      await log.close()
      throw error
    }
  }

  get id(): string {
    return this.header.id
  }

  get writable(): boolean {
    return this.#log.mode === 'write' && this.#fenced === undefined
  }

  get nextSeq(): number {
    return this.#fold.nextSeq
  }

  get surface() {
    return this.#fold.surface
  }

  get shadowedContexts() {
    return this.#fold.shadowedContexts
  }

  get spent() {
    return this.#fold.spent
  }

  get turn() {
    return this.#fold.turn
  }

  get inbox() {
    return this.#fold.inbox
  }

  get requestHeader() {
    return this.#fold.requestHeader
  }

  get cwd(): string {
    return this.#fold.directory ?? this.header.project
  }

  async append(
    newFacts: readonly NewFact[],
    { sync = true, later = false }: AppendOptions = {},
  ): Promise<readonly Fact[]> {
    this.#assertWritable()
    const place = { seq: this.nextSeq, time: this.#options.clock.now() }
    const facts = placeFacts(newFacts, place, (type) => {
      return coreEvent(type) ?? this.#options.lookup(type)
    })
    const snapshot = facts.length > 0 && this.#queue.wantsSnapshot ? this.#snapshot() : undefined
    for (const fact of facts) this.#fold.add(fact)
    this.#outbox.facts(facts)
    const written =
      facts.length > 0
        ? this.#queue.add({ facts, sync: sync && !later, later, ...(snapshot ? { snapshot } : {}) })
        : this.#queue.flush()
    try {
      await written
    } catch (error) {
      if (isHarnessError(error, 'STORE_FENCED')) this.#fenced = error
      throw error
    }
    return facts
  }

  delta(delta: LiveDelta): void {
    if (this.#closing || !this.writable) return
    const frozen = Object.freeze({ ...delta })
    this.#lane.add(frozen)
    this.#outbox.delta(frozen)
  }

  state<Data, State>(definition: EventDefinition<Data, State>): State {
    return this.#fold.state(definition)
  }

  async *read(from = 0): AsyncIterable<Fact> {
    const end = this.nextSeq
    const unwritten = this.#queue.unwritten
    let next = from
    for await (const fact of this.#log.read(from)) {
      if (fact.seq >= end) break
      next = fact.seq + 1
      yield deepFreeze(fact)
    }
    for (const fact of unwritten) if (fact.seq >= next) yield fact
  }

  watch(
    ctx: Context,
    listener: (update: SessionUpdate) => void,
    ended?: (reason: unknown) => void,
  ): () => void {
    const undo = this.#watchers.add(ctx, listener, ended)
    this.#follower?.start()
    return undo
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    this.#assertWritable()
    return this.#limit.within(() => this.#log.putBlob(bytes))
  }

  async getBlob(hash: string): Promise<Uint8Array> {
    this.#assertOpen()
    return this.#log.getBlob(hash)
  }

  hurry(maxMs: number): () => void {
    return this.#limit.hurry(maxMs)
  }

  async repair(): Promise<void> {
    const { turn, openCompactions } = this.#fold
    const facts = repairFacts({ turn, openCompactions, live: this.#leftOver, newId })
    await this.append(facts)
    if (this.#leftOver.length === 0) return
    this.#leftOver = []
    this.#lane.rotate()
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#follower?.stop()
    this.#lane.flush()
    try {
      await this.#queue.flush()
    } finally {
      this.#watchers.end(sessionError('SESSION_CLOSED', { id: this.id }))
      await this.#closeLog().finally(() => this.#options.onClosed?.(this))
    }
  }

  /** Begun in any case: a disk that is late may still come to it, and free the lease. */
  async #closeLog(): Promise<void> {
    const closing = this.#log.close()
    closing.catch(() => {
      // Told below, where somebody still waits.
    })
    await this.#limit.within(() => closing)
  }

  /** The live lane may go only once what it held is on the disk as facts. */
  #written({ facts, sync }: Batch): void {
    this.#outbox.written(facts.at(-1)?.seq ?? -1)
    this.#attemptEnded ||= facts.some((fact) => assistantMessage.is(fact) || attemptFailed.is(fact))
    if (!this.#attemptEnded || !sync) return
    this.#attemptEnded = false
    this.#lane.rotate()
  }

  /** What the owner of a session has added that is only looked at here. */
  #hear({ facts, live }: Refreshed): void {
    for (const fact of facts) this.#fold.add(deepFreeze(fact))
    this.#watchers.publish([
      ...facts.map((fact) => ({ kind: 'fact' as const, fact })),
      ...live.filter(isLiveDelta).map((delta) => ({ kind: 'delta' as const, delta })),
    ])
  }

  #snapshot(): Snapshot {
    return { seq: this.#fold.nextSeq, state: this.#fold.snapshot() }
  }

  #assertOpen(): void {
    if (this.#closing) throw sessionError('SESSION_CLOSED', { id: this.id })
  }

  #assertWritable(): void {
    this.#assertOpen()
    if (this.#fenced) throw this.#fenced
    if (!this.writable) throw sessionError('SESSION_READ_ONLY', { id: this.id })
  }
}
