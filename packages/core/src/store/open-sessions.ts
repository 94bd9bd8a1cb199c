import { monotonicFactory } from 'ulid'
import { describeFailure, log, type Context } from '../kernel/index.ts'
import {
  sessionError,
  type ForkOptions,
  type OpenOptions,
  type Salvaged,
  type Session,
  type SessionHeader,
  type Sessions,
} from '../session/index.ts'
import type { Clock } from './clock.ts'
import { EventKinds } from './event-kinds.ts'
import { disinherit, findBoundary } from './fork-session.ts'
import { LiveSession, WRITE_TIMEOUT_MS } from './live-session.ts'
import { salvageSession } from './salvage-session.ts'
import type { SessionLog, Store } from './store.ts'

/** The sessions of this process over one store. */
export class OpenSessions implements Sessions {
  readonly events = new EventKinds()
  readonly #ctx: Context
  readonly #store: Store
  readonly #clock: Clock
  readonly #writeTimeoutMs: number
  readonly #newId = monotonicFactory()
  readonly #open = new Set<LiveSession>()
  readonly #opening = new Set<Promise<Session>>()
  #closed = false

  constructor(ctx: Context, store: Store, clock: Clock, writeTimeoutMs = WRITE_TIMEOUT_MS) {
    this.#ctx = ctx
    this.#store = store
    this.#clock = clock
    this.#writeTimeoutMs = writeTimeoutMs
  }

  async create(header: Parameters<Sessions['create']>[0]): Promise<Session> {
    const whole = this.#newHeader(header, header.id)
    return this.#keep(whole.id, () => this.#store.create(whole))
  }

  async open(id: string, options: OpenOptions = {}): Promise<Session> {
    const { mode = 'write', takeOver = false } = options
    return this.#keep(id, () => this.#store.open(id, { mode, takeOver }))
  }

  async fork(id: string, options: ForkOptions = {}): Promise<Session> {
    const { header: parent, before } = await findBoundary(this.#store, id, options)
    const { project = parent.project, depth = 0 } = options
    const header: SessionHeader = {
      ...this.#newHeader({ project, depth }),
      ...(parent.preset === undefined ? {} : { preset: parent.preset }),
      parent: { id, kind: 'fork', seq: before },
    }
    const forked = await this.#keep(header.id, () => this.#store.fork(id, header, { before }))
    try {
      await disinherit(forked)
      return forked
    } catch (error) {
      await forked.close()
      throw error
    }
  }

  async salvage(id: string, { project }: { readonly project: string }): Promise<Salvaged> {
    return salvageSession(this.#store, id, (found) => ({
      ...this.#newHeader(found ?? { project, depth: 0 }),
      parent: { id, kind: 'fork' },
    }))
  }

  list(): readonly Session[] {
    return [...this.#open]
  }

  /** Closes every session, those too that are still being opened. Throws the first failure. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#opening)
    const closed = await Promise.allSettled([...this.#open].map((session) => session.close()))
    for (const result of closed) if (result.status === 'rejected') throw result.reason
  }

  #newHeader(
    header: Omit<SessionHeader, 'format' | 'id' | 'createdAt'>,
    id?: string,
  ): SessionHeader {
    const createdAt = this.#clock.now()
    return { ...header, format: 1, id: id ?? this.#newId(createdAt), createdAt }
  }

  async #keep(id: string, openLog: () => Promise<SessionLog>): Promise<Session> {
    if (this.#closed) throw sessionError('SESSION_CLOSED', { id })
    const opening = this.#openSession(openLog)
    this.#opening.add(opening)
    try {
      return await opening
    } finally {
      this.#opening.delete(opening)
    }
  }

  async #openSession(openLog: () => Promise<SessionLog>): Promise<LiveSession> {
    const session = await LiveSession.open(await openLog(), {
      clock: this.#clock,
      writeTimeoutMs: this.#writeTimeoutMs,
      lookup: (type) => this.events.get(type),
      report: (type, error) => {
        const fields = { type, error: describeFailure(error) }
        log(this.#ctx, 'error', 'folding a fact failed, so its state stays as it was', fields)
      },
      onClosed: (closed) => this.#open.delete(closed),
    })
    this.#open.add(session)
    return session
  }
}
