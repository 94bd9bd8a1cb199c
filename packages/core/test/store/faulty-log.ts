import {
  anyEvent,
  type AnyEventDefinition,
  type Fact,
  type SessionHeader,
} from '@cordage/core/session'
import { LiveSession, type Clock, type SessionLog, type Snapshot } from '@cordage/core/store'
import { MemoryStore } from '../../../stores/memory/src/index.ts'
import { counted } from '../session/random-log.ts'

export const header: SessionHeader = {
  format: 1,
  id: 's1',
  createdAt: 1,
  project: '/project',
  depth: 0,
}

/** A log of the memory store between whose append and the session a disk may fail or be slow. */
export class FaultyLog implements SessionLog {
  readonly inner: SessionLog
  readonly batches: { facts: readonly Fact[]; sync: boolean; snapshot?: Snapshot }[] = []
  readonly lane: (unknown | 'rotate')[] = []
  closed = 0
  fail: unknown
  /** Set to hold back writes until it resolves. */
  gate: Promise<void> | undefined
  #wantsSnapshot: boolean | undefined

  constructor(inner: SessionLog) {
    this.inner = inner
  }

  get header() {
    return this.inner.header
  }
  get mode() {
    return this.inner.mode
  }
  get snapshot() {
    return this.inner.snapshot
  }
  get tail() {
    return this.inner.tail
  }
  get live() {
    return this.inner.live
  }
  get notices() {
    return this.inner.notices
  }
  get wantsSnapshot() {
    return this.#wantsSnapshot ?? this.inner.wantsSnapshot
  }

  /** Has the append after the one that is being written begin a segment. */
  beginSegment(): void {
    this.#wantsSnapshot = true
  }

  async append(facts: readonly Fact[], options: { sync: boolean; snapshot?: Snapshot }) {
    await this.gate
    if (this.fail) throw this.fail
    await this.inner.append(facts, options)
    this.batches.push({ facts, ...options })
    if (options.snapshot) this.#wantsSnapshot = false
  }
  refresh() {
    return this.inner.refresh()
  }
  appendLive(lines: readonly unknown[]) {
    this.lane.push(...lines)
    this.inner.appendLive(lines)
  }
  rotateLive() {
    this.lane.push('rotate')
    this.inner.rotateLive()
  }
  read(from: number) {
    return this.inner.read(from)
  }
  putBlob(bytes: Uint8Array) {
    return this.inner.putBlob(bytes)
  }
  getBlob(hash: string) {
    return this.inner.getBlob(hash)
  }
  async close() {
    this.closed += 1
    await this.inner.close()
  }
}

/** Time that moves when it is told to. */
export class ManualClock implements Clock {
  #now = 1000
  readonly #waiting = new Set<{ at: number; run: () => void }>()

  now() {
    return this.#now
  }
  after(ms: number, run: () => void) {
    const timer = { at: this.#now + ms, run }
    this.#waiting.add(timer)
    return () => void this.#waiting.delete(timer)
  }
  advance(ms: number) {
    this.#now += ms
    for (const timer of this.#waiting) {
      if (timer.at > this.#now) continue
      this.#waiting.delete(timer)
      timer.run()
    }
  }
}

export interface Opened {
  readonly store: MemoryStore
  readonly log: FaultyLog
  readonly clock: ManualClock
  readonly session: LiveSession
  readonly reports: string[]
}

const known = (type: string): AnyEventDefinition | undefined => {
  return type === counted.type ? anyEvent(counted) : undefined
}

export async function openOn(inner: SessionLog, store = new MemoryStore()): Promise<Opened> {
  const log = new FaultyLog(inner)
  const clock = new ManualClock()
  const reports: string[] = []
  const session = await LiveSession.open(log, {
    clock,
    lookup: known,
    report: (type) => void reports.push(type),
  })
  return { store, log, clock, session, reports }
}

export async function newSession(): Promise<Opened> {
  const store = new MemoryStore()
  return openOn(await store.create(header), store)
}

/** Opens again what a process left behind that did not close it. */
export async function reopen({ store }: Opened): Promise<Opened> {
  return openOn(await store.open(header.id, { mode: 'write', takeOver: true }), store)
}

export async function readAll(facts: AsyncIterable<Fact>): Promise<Fact[]> {
  const all: Fact[] = []
  for await (const fact of facts) all.push(fact)
  return all
}
