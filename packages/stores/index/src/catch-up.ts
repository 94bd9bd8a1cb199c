import { hash } from 'node:crypto'
import { isHarnessError } from '@cordage/core/error'
import type { Fact } from '@cordage/core/session'
import type { SessionLog, SessionSummary, Store } from '@cordage/core/store'
import type { About, Batch, Entry, Known } from './calls.ts'
import { entryOf, type ExtractOptions } from './extract.ts'
import type { Following } from './following.ts'
import { BeganAnew, type IndexThread } from './index-thread.ts'

export interface CatchUpOptions {
  readonly store: Store
  readonly thread: IndexThread
  readonly following: Following
  readonly extract: Omit<ExtractOptions, 'getBlob'>
}

const maxEntries = 500
const maxLength = 512 * 1024

/** Brings the index to where the store is, one session after the other, the newest first. */
export class CatchUp {
  readonly #options: CatchUpOptions
  #known = new Map<string, Known>()
  #version = 0
  #listed: readonly SessionSummary[] = []
  #running: Promise<void> | undefined
  #queued: Promise<void> | undefined
  #stopped = false
  readonly #looked = Promise.withResolvers<void>()
  readonly #behind = new Set<string>()
  readonly #unreadable = new Map<string, string>()
  #kept = true

  constructor(options: CatchUpOptions) {
    this.#options = options
  }

  /** The sessions that are not wholly in the index. */
  get behind(): number {
    return this.#behind.size
  }

  /** Sessions of which something cannot be read, as they are now. */
  get unreadable(): readonly string[] {
    return [...this.#unreadable.keys()]
  }

  /** The sessions that were there when it last began. */
  get listed(): readonly SessionSummary[] {
    return this.#listed
  }

  /** Resolves when it is known for the first time how far the index is behind. */
  get looked(): Promise<void> {
    return this.#looked.promise
  }

  /** False where the index lives no longer than this process. */
  get kept(): boolean {
    return this.#kept
  }

  /** Resolves when all that was in the store at the time of the call is in the index. */
  start(): Promise<void> {
    if (!this.#running) return this.#begin()
    // What runs may have passed what was added since.
    this.#queued ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    )
    return this.#queued
  }

  /** Ends after the batch that is being written. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.allSettled([this.#running, this.#queued])
  }

  async #begin(): Promise<void> {
    this.#queued = undefined
    this.#running = this.#run()
    try {
      await this.#running
    } catch (error) {
      // The other side may know less than is believed here.
      this.#version = 0
      throw error
    } finally {
      this.#running = undefined
    }
  }

  async #run(): Promise<void> {
    if (this.#stopped) return
    const { store, thread } = this.#options
    this.#listed = await store.list({ children: true, archived: true })
    if (this.#listed.length === 0 && !thread.started) return this.#looked.resolve()
    const { version, known, kept } = await thread.ask('known', { version: this.#version })
    if (known) this.#known = new Map(known.map((one) => [one.id, one]))
    this.#version = version
    this.#kept = kept
    const there = new Map(this.#listed.map((summary) => [summary.header.id, summary]))
    await this.#forgetBut(there)
    const waiting = this.#listed.filter((summary) => this.#hasChanged(summary, there))
    this.#behind.clear()
    for (const { header } of waiting) this.#behind.add(header.id)
    this.#looked.resolve()
    for (const summary of waiting) {
      if (this.#stopped) return
      await this.#index(summary, there)
      this.#behind.delete(summary.header.id)
    }
  }

  async #forgetBut(there: ReadonlyMap<string, SessionSummary>): Promise<void> {
    const gone = [...this.#known.keys()].filter((id) => !there.has(id))
    if (gone.length > 0) await this.#options.thread.ask('forget', { ids: gone })
    for (const id of gone) this.#known.delete(id)
    for (const id of this.#unreadable.keys()) if (!there.has(id)) this.#unreadable.delete(id)
  }

  #hasChanged(summary: SessionSummary, there: ReadonlyMap<string, SessionSummary>): boolean {
    const { header } = summary
    const known = this.#known.get(header.id)
    if (this.#unreadable.get(header.id) === stampOf(summary)) return false
    if (!known || known.createdAt !== header.createdAt) return true
    if (known.base !== baseOf(summary, there) || known.stamp !== stampOf(summary)) return true
    // Written before it was told: the stamp that is known may be of a log that had it already.
    return this.#options.following.hasHeard(header.id)
  }

  async #index(summary: SessionSummary, there: ReadonlyMap<string, SessionSummary>): Promise<void> {
    const { id, createdAt } = summary.header
    const base = baseOf(summary, there)
    try {
      const known = this.#known.get(id)
      const same = known?.createdAt === createdAt && known.base === base
      const from = same ? known : { id, createdAt, base, next: base, last: '', stamp: '' }
      await this.#follow(summary, from)
      this.#unreadable.delete(id)
    } catch (error) {
      if (error instanceof BeganAnew || isHarnessError(error, 'SESSION_QUERY_INDEX_FAILED')) {
        throw error
      }
      // Gone meanwhile, or damaged: what could be read of it is in the index.
      if (!isHarnessError(error, 'SESSION_NOT_FOUND')) this.#unreadable.set(id, stampOf(summary))
    }
  }

  /** Indexes what was added to the session: as it was heard, or from its log. */
  async #follow(summary: SessionSummary, known: Known): Promise<void> {
    const { store, following, thread } = this.#options
    const { id } = summary.header
    const heard = following.take(id, known.next)
    if (heard && (await this.#put(summary, known, heard)) === 'done') return
    const log = await store.open(id, { mode: 'read' })
    try {
      const outcome = await this.#put(
        summary,
        known,
        partOf(log, Math.max(known.base, known.next - 1)),
      )
      if (outcome === 'done') return
      // Its log is not what it was: whatever the index has of it is of another one.
      if (outcome === 'other') await thread.ask('forget', { ids: [id] })
      const anew = { ...known, next: known.base, last: '' }
      const again = await this.#put(summary, anew, partOf(log, known.base))
      // Others are at work on the same: the next look shows how far they came.
      if (again !== 'done') this.#version = 0
    } finally {
      await log.close()
    }
  }

  async #put(
    summary: SessionSummary,
    known: Known,
    { facts, getBlob }: Part,
  ): Promise<'done' | 'gap' | 'other'> {
    const extract = { ...this.#options.extract, getBlob }
    const batch = new OpenBatch(known, aboutOf(summary))
    const write = async (stamp: string) => {
      const closed = batch.close(stamp)
      const have = await this.#options.thread.ask('put', closed)
      if (have < closed.known.next) return false
      this.#known.set(known.id, closed.known)
      return true
    }
    let goesOn = known.last === ''
    try {
      for await (const fact of facts) {
        if (this.#stopped) return 'done'
        if (fact.seq < known.next && digestOf(fact) !== known.last) return 'other'
        goesOn = true
        if (fact.seq < known.next) continue
        batch.add(fact, await entryOf(fact, extract))
        if (batch.full && !(await write(''))) return 'gap'
      }
    } catch (error) {
      // Behind damage nothing is read, but what is before it is there to be found.
      if (isHarnessError(error, 'STORE_DAMAGED')) await write('')
      throw error
    }
    if (!goesOn) return 'other'
    return (await write(stampOf(summary))) ? 'done' : 'gap'
  }
}

/** Facts on their way to the index. */
class OpenBatch {
  readonly #about: About
  #known: Known
  #next: number
  #newest: Fact | undefined
  #entries: Entry[] = []
  #length = 0

  constructor(known: Known, about: About) {
    this.#known = known
    this.#about = about
    this.#next = known.next
  }

  get full(): boolean {
    return this.#entries.length >= maxEntries || this.#length >= maxLength
  }

  add(fact: Fact, entry: Entry | undefined): void {
    this.#next = fact.seq + 1
    this.#newest = fact
    if (!entry) return
    this.#entries.push(entry)
    this.#length += entry[4].length
  }

  /** The batch, and an empty one behind it. */
  close(stamp: string): Batch {
    const from = this.#known.next
    const last = this.#newest ? digestOf(this.#newest) : this.#known.last
    this.#known = { ...this.#known, next: this.#next, last, stamp }
    const entries = this.#entries
    this.#entries = []
    this.#length = 0
    return { known: this.#known, about: this.#about, from, entries }
  }
}

/** Some facts of a session, in order, and where its blobs are. */
interface Part {
  readonly facts: AsyncIterable<Fact> | Iterable<Fact>
  readonly getBlob: (hash: string) => Promise<Uint8Array>
}

/** From fact `from` on: what is at hand since the log was opened, where that is enough. */
function partOf(log: SessionLog, from: number): Part {
  // Reading the log says whether what it was opened with ends at damage.
  const isAtHand = from >= (log.snapshot?.seq ?? 0) && log.notices.length === 0
  const facts = isAtHand ? log.tail.filter(({ seq }) => seq >= from) : log.read(from)
  return { facts, getBlob: (hash) => log.getBlob(hash) }
}

/** Changes whenever something is added. */
function stampOf({ bytes, updatedAt, archived, damaged }: SessionSummary): string {
  return [bytes, updatedAt, archived === true, damaged ?? ''].join()
}

/** What a fork begins with is found in the session that it is from, as long as that is there. */
function baseOf(
  { header: { parent } }: SessionSummary,
  there: ReadonlyMap<string, SessionSummary>,
): number {
  const shares = parent?.kind === 'fork' && there.has(parent.id)
  return shares ? (parent.seq ?? 0) : 0
}

function aboutOf({ header, title, firstWords, archived }: SessionSummary): About {
  return {
    project: header.project,
    title: title ?? firstWords ?? '',
    parent: header.parent?.id ?? '',
    child: header.depth > 0,
    archived: archived === true,
  }
}

function digestOf(fact: Fact): string {
  return hash('sha256', JSON.stringify(fact), 'hex').slice(0, 32)
}
