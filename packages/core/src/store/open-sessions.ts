import { monotonicFactory } from 'ulid'
import { describeFailure, log, type Context } from '../kernel/index.ts'
import { sessionError, type OpenOptions, type Session, type Sessions } from '../session/index.ts'
import type { Clock } from './clock.ts'
import { EventKinds } from './event-kinds.ts'
import { LiveSession } from './live-session.ts'
import type { SessionLog, Store } from './store.ts'

/** The sessions of this process over one store. */
export class OpenSessions implements Sessions {
  readonly events = new EventKinds()
  readonly #ctx: Context
  readonly #store: Store
  readonly #clock: Clock
  readonly #newId = monotonicFactory()
  readonly #open = new Set<LiveSession>()
  readonly #opening = new Set<Promise<Session>>()
  #closed = false

  constructor(ctx: Context, store: Store, clock: Clock) {
    this.#ctx = ctx
    this.#store = store
    this.#clock = clock
  }

  async create(header: Parameters<Sessions['create']>[0]): Promise<Session> {
    const createdAt = this.#clock.now()
    const id = header.id ?? this.#newId(createdAt)
    return this.#keep(id, () => this.#store.create({ ...header, format: 1, id, createdAt }))
  }

  async open(id: string, options: OpenOptions = {}): Promise<Session> {
    const { mode = 'write', takeOver = false } = options
    return this.#keep(id, () => this.#store.open(id, { mode, takeOver }))
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
