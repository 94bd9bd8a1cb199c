import { setTimeout as sleep } from 'node:timers/promises'
import { describeFailure } from '@cordage/core/kernel'
import { termsOf } from '@cordage/core/search'
import { sessionError, type Fact, type Session } from '@cordage/core/session'
import type {
  EventHit,
  SearchPage,
  SearchRequest,
  SessionMatch,
  SessionQuery,
  SessionSummary,
  Store,
} from '@cordage/core/store'
import type { Found, Wanted } from './calls.ts'
import { CatchUp } from './catch-up.ts'
import { indexError } from './errors.ts'
import type { ExtractOptions } from './extract.ts'
import type { Following } from './following.ts'
import { BeganAnew, type IndexThread } from './index-thread.ts'
import { traceSession } from './lineage.ts'

export interface QueryOptions {
  readonly store: Store
  readonly thread: IndexThread
  readonly path: string
  readonly row: string
  readonly enabled: boolean
  readonly maxWaitMs: number
  readonly extract: Omit<ExtractOptions, 'getBlob'>
  readonly following: Following
  /** Those that this process has open. */
  readonly open: () => readonly Session[]
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void
}

const maxQueryChars = 1_000
const maxTerms = 32
const maxLimit = 200

/** Finds in an index, and reads in the store. */
export class IndexedQuery implements SessionQuery {
  readonly #options: QueryOptions
  readonly #thread: IndexThread
  readonly #catchUp: CatchUp
  #warned = false

  constructor(options: QueryOptions) {
    const { store, following, extract, thread } = options
    this.#options = options
    this.#thread = thread
    this.#catchUp = new CatchUp({ store, following, extract, thread })
  }

  async sessions(request: SearchRequest): Promise<SearchPage<SessionMatch>> {
    return (await this.#search(request, true)) as SearchPage<SessionMatch>
  }

  async events(request: SearchRequest): Promise<SearchPage<EventHit>> {
    return this.#search(request, false)
  }

  trace(id: string) {
    return traceSession(this.#options.store, id)
  }

  async read(id: string, { from, to }: { readonly from: number; readonly to: number }) {
    const log = await this.#options.store.open(id, { mode: 'read' })
    try {
      const facts: Fact[] = []
      const count = (log.snapshot?.seq ?? 0) + log.tail.length
      if (!Number.isInteger(from) || from < 0 || from >= count) {
        throw indexError('SESSION_QUERY_EVENT_NOT_FOUND', { id, seq: from, count })
      }
      for await (const fact of log.read(from)) {
        if (fact.seq >= to) break
        facts.push(fact)
      }
      return { header: log.header, facts }
    } finally {
      await log.close()
    }
  }

  async rebuild(): Promise<void> {
    if (!this.#options.enabled) return
    await this.#thread.ask('clear', {})
    await this.catchUp()
  }

  /** Resolves when all that is in the store is in the index. */
  async catchUp(): Promise<void> {
    this.#options.following.watch(this.#options.open())
    await this.#catchUp.start()
    if (this.#catchUp.kept || this.#warned || this.#options.path === ':memory:') return
    this.#warned = true
    const fields = { path: this.#options.path }
    this.#options.warn('the index of sessions cannot be kept, so it is made in memory', fields)
  }

  /** Leaves nothing of a session in the index, also where it cannot be used otherwise. */
  forget(id: string): Promise<void> {
    return this.#thread.ask('forget', { ids: [id] })
  }

  /** The thread is for its owner to close. */
  async close(): Promise<void> {
    await this.#catchUp.stop()
  }

  async #search(
    request: SearchRequest,
    bySession: boolean,
  ): Promise<SearchPage<EventHit | SessionMatch>> {
    const { enabled, row } = this.#options
    if (!enabled) throw indexError('SESSION_QUERY_SEARCH_DISABLED', { row })
    const wanted = wantedOf(request, bySession)
    try {
      return await this.#find(request, wanted)
    } catch (error) {
      if (!(error instanceof BeganAnew)) throw error
      return await this.#find(request, wanted).catch((again: unknown) => {
        if (!(again instanceof BeganAnew)) throw again
        throw indexError('SESSION_QUERY_INDEX_FAILED', { reason: again.message })
      })
    }
  }

  async #find(
    { session, signal, waitMs = this.#options.maxWaitMs }: SearchRequest,
    wanted: Wanted,
  ): Promise<SearchPage<EventHit | SessionMatch>> {
    await this.#wait(waitMs, signal)
    if (session !== undefined) await this.#expect(session)
    const { listed, behind, unreadable } = this.#catchUp
    const gaps = { behind, unreadable }
    if (listed.length === 0 && behind === 0) return { hits: [], ...gaps }
    const found = await this.#thread.ask('search', wanted)
    signal?.throwIfAborted()
    const next = cursorOf(found, wanted)
    return { hits: found.hits, ...(next === undefined ? {} : { next }), ...gaps }
  }

  async #expect(id: string): Promise<void> {
    const { store } = this.#options
    const any = { children: true, archived: true, idPrefix: id }
    const isIt = ({ header }: SessionSummary) => header.id === id
    if (this.#catchUp.listed.some(isIt) || (await store.list(any)).some(isIt)) return
    throw sessionError('SESSION_NOT_FOUND', { id, location: store.location })
  }

  /** Goes on without what could not be indexed in time; the index is caught up with meanwhile. */
  async #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const late = new AbortController()
    const signals = signal ? [late.signal, signal] : [late.signal]
    const caughtUp = this.catchUp()
    caughtUp.catch((error: unknown) => {
      if (late.signal.aborted && !(error instanceof BeganAnew)) {
        this.#options.warn('indexing sessions failed', { error: describeFailure(error) })
      }
    })
    try {
      const rest = sleep(ms, undefined, { signal: AbortSignal.any(signals) })
      await Promise.race([caughtUp, Promise.all([rest, this.#catchUp.looked])])
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      late.abort()
    }
  }
}

/** Throws `SESSION_QUERY_INVALID`. */
function wantedOf(request: SearchRequest, bySession: boolean): Wanted {
  const { text, limit = 20, cursor, waitMs: _, signal: __, ...filter } = request
  if (text.length > maxQueryChars) {
    throw invalid(`it has ${text.length} characters, and ${maxQueryChars} are the most`)
  }
  const terms = termsOf(text)
  if (terms.length === 0) throw invalid('it holds no letter, digit or emoji')
  if (terms.length > maxTerms)
    throw invalid(`it has ${terms.length} words, and ${maxTerms} are the most`)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    throw invalid(`limit is ${limit}, and has to be from 1 to ${maxLimit}`)
  }
  const [, newest, offset] = /^(\d{1,16})\.(\d{1,6})$/.exec(cursor ?? '0.0') ?? []
  if (newest === undefined || offset === undefined)
    throw invalid('its cursor is of no earlier page')
  const place = { limit, offset: Number(offset), bySession, text }
  return { ...filter, ...place, ...(cursor === undefined ? {} : { newest: Number(newest) }) }
}

/** What is said meanwhile comes before the first page, and moves no other. */
function cursorOf({ more, newest }: Found, { offset, limit }: Wanted): string | undefined {
  return more ? `${newest}.${offset + limit}` : undefined
}

function invalid(reason: string): Error {
  return indexError('SESSION_QUERY_INVALID', { reason })
}
