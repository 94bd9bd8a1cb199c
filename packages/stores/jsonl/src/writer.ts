import { join } from 'node:path'
import { isHarnessError } from '@cordage/core/error'
import { assert } from '@cordage/core/kernel'
import type { Fact, SessionHeader } from '@cordage/core/session'
import { type Io, type IoFile, type Snapshot, storeError } from '@cordage/core/store'
import { type Ragged, trim } from './aside.ts'
import { Batch } from './batch.ts'
import { type Encoding, maxRawBytes, type Seal } from './frame.ts'
import { createSegment, OpenSegment } from './open-segment.ts'
import { leasePath } from './options.ts'
import { reasonOf } from './system-error.ts'
import { segmentPath } from './segment.ts'

export interface WriterOptions {
  readonly io: Io
  readonly directory: string
  readonly header: SessionHeader
  readonly compression: Encoding
  readonly segmentMaxBytes: number
  /** False once another process has taken the lease; absent for a log that nobody knows yet. */
  readonly isOwner?: () => Promise<boolean>
}

/** What is flushed without being asked, so that little has to be kept for writing it again. */
const maxUnsynced = 1000

/**
 * Appends batches to the newest segment. After a write or a flush that failed, nothing is known
 * about that segment's last bytes, so it is never written to again: the next append begins
 * another one, whose seal says how far the old one is good.
 */
export class Writer {
  readonly #options: WriterOptions
  #segment: OpenSegment
  #seals: readonly Seal[]
  #ragged: readonly Ragged[]
  /** Acknowledged without a flush; written again when the flush fails. */
  #unsynced: readonly Fact[] = []
  #next: number
  #broken = false
  #fenced = false

  constructor(
    options: WriterOptions,
    segment: OpenSegment,
    before: { seals: readonly Seal[]; ragged: readonly Ragged[] },
  ) {
    this.#options = options
    this.#segment = segment
    this.#seals = before.seals
    this.#ragged = before.ragged
    this.#next = segment.good.next
  }

  get fenced(): boolean {
    return this.#fenced
  }

  get unsynced(): readonly Fact[] {
    return this.#unsynced
  }

  /** At the beginning of a segment, and so often in it that opening has little to read. */
  get wantsSnapshot(): boolean {
    const { number, snapshot, good } = this.#segment
    if (this.#ends || (number > 1 && !snapshot)) return true
    const { end = 0, bytes = 0 } = snapshot ?? {}
    return good.bytes - end >= Math.max(this.#options.segmentMaxBytes / 8, 2 * bytes)
  }

  /** How far each segment that is not sealed on the disk may be read. */
  get seals(): readonly Seal[] {
    return [...this.#seals, this.#segment.sealAt(this.#segment.good)]
  }

  async append(
    facts: readonly Fact[],
    { sync, snapshot }: { sync: boolean; snapshot?: Snapshot },
  ): Promise<void> {
    const { id } = this.#options.header
    if (this.#fenced) throw storeError('STORE_FENCED', { id })
    const first = facts[0]?.seq ?? this.#next
    if (first !== this.#next) throw this.#failed(`fact ${this.#next} has to be written first`)
    assert(
      facts.every((fact, index) => fact.seq === first + index),
      'the facts of a batch follow one another',
    )
    const flush = sync || this.#unsynced.length + facts.length > maxUnsynced
    try {
      if (this.#ends) await this.#rotate()
      await this.#write(facts, snapshot, flush)
    } catch (error) {
      if (isHarnessError(error)) throw error
      throw this.#failed(reasonOf(error), error)
    }
    this.#next = first + facts.length
    this.#unsynced = flush ? [] : [...this.#unsynced, ...facts]
    if (flush) await this.#tidy()
  }

  /** Flushes what is left and lets go of the file. */
  async close(): Promise<void> {
    try {
      if (this.#segment.durable !== this.#segment.good && !this.#broken) await this.#flush()
    } catch (error) {
      throw this.#failed(reasonOf(error), error)
    } finally {
      await this.#segment.close()
    }
    await this.#removeUnwritten()
  }

  /** A segment that was only claimed tells nobody anything, and stock zstd takes no empty file. */
  async #removeUnwritten(): Promise<void> {
    const { io, directory, compression: encoding, isOwner } = this.#options
    const { number, good } = this.#segment
    if (number === 1 || good.bytes > 0) return
    const path = segmentPath(directory, number, encoding)
    try {
      const empty = (await io.stat(path))?.size === 0
      if (empty && (await isOwner?.())) await io.remove(path)
    } catch {
      // The next owner claims what is left there.
    }
  }

  /** Where the snapshot alone is large, as many bytes of facts follow it: else every batch had one. */
  get #ends(): boolean {
    const { good, begins } = this.#segment
    return this.#broken || good.bytes >= Math.max(this.#options.segmentMaxBytes, 2 * begins)
  }

  #batch(): Batch {
    const { header, compression: encoding } = this.#options
    const place = { session: header.id, segment: this.#segment.number, encoding }
    return new Batch(place, this.#segment.good)
  }

  async #write(facts: readonly Fact[], snapshot: Snapshot | undefined, flush: boolean) {
    const segment = this.#segment
    const { good: before, durable } = segment
    const seals = this.#seals
    const batch = this.#batch()
    if (before.bytes === 0) await this.#begin(batch)
    await batch.facts(this.#unsynced.filter((fact) => fact.seq >= before.next))
    // A snapshot of another place is of no use here, and nothing is lost without it.
    const at = batch.length
    if (snapshot?.seq === batch.next) await batch.snapshot(snapshot)
    const taken = { bytes: batch.length - at, end: before.bytes + batch.length }
    await batch.facts(facts)
    const { bytes } = batch
    if (bytes.length > maxRawBytes) throw this.#failed(`it is ${bytes.length} bytes at once`)
    try {
      await segment.write(bytes, batch.check, batch.next)
      if (flush) await this.#flush()
      await this.#checkFence()
      if (taken.bytes > 0) segment.took(taken)
    } catch (error) {
      segment.good = before
      segment.durable = durable
      this.#seals = seals
      this.#broken = segment.suspect || !(await segment.isEven())
      throw error
    }
  }

  async #begin(batch: Batch): Promise<void> {
    const { header } = this.#options
    if (this.#segment.number === 1) await batch.header(header)
    else await batch.seal(header, this.#seals)
  }

  async #flush(): Promise<void> {
    const first = this.#segment.durable.bytes === 0
    await this.#segment.sync()
    if (first) await this.#options.io.syncDirectory(join(this.#options.directory, 'log'))
    // Only a seal that was written counts; a segment that could not be begun has none.
    if (this.#segment.good.bytes > 0) this.#seals = []
  }

  async #rotate(): Promise<void> {
    const old = this.#segment
    if (!old.suspect) await this.#flush().catch(() => (old.suspect = true))
    const mark = old.suspect ? old.durable : old.good
    const { io, directory, compression: encoding } = this.#options
    const number = old.number + 1
    const place = { number, encoding }
    const file = (await createSegment(io, directory, place)) ?? (await this.#ownSegment(place))
    if (!file) throw this.#fence()
    this.#seals = [...this.#seals, old.sealAt(mark)]
    if (this.#broken || old.suspect) {
      const path = segmentPath(directory, old.number, encoding)
      const file = { number: old.number, encoding, path }
      this.#ragged = [...this.#ragged, { file, from: mark.bytes }]
    }
    this.#segment = new OpenSegment(number, file, mark.next)
    this.#broken = false
    await old.close()
  }

  /** The next segment, where its making was reported as failed and yet was done. */
  async #ownSegment(place: { number: number; encoding: Encoding }): Promise<IoFile | undefined> {
    const { io, directory, isOwner } = this.#options
    const path = segmentPath(directory, place.number, place.encoding)
    const empty = (await io.stat(path))?.size === 0
    // Nobody makes a segment who has not taken the lease before.
    return empty && (await isOwner?.()) ? io.open(path, 'write') : undefined
  }

  /**
   * An owner that was taken over must not acknowledge. Whoever takes over puts its lease there
   * before it reads; where the lease is gone, its next segment still tells.
   */
  async #checkFence(): Promise<void> {
    const { io, directory, isOwner } = this.#options
    if (await isOwner?.()) return
    if (isOwner && (await io.stat(leasePath(directory)))) throw this.#fence()
    const next = this.#segment.number + 1
    for (const encoding of ['zstd', 'none'] as const) {
      if (await io.stat(segmentPath(directory, next, encoding))) throw this.#fence()
    }
  }

  #fence(): Error {
    this.#fenced = true
    return storeError('STORE_FENCED', { id: this.#options.header.id })
  }

  async #tidy(): Promise<void> {
    const ragged = this.#ragged
    this.#ragged = []
    for (const one of ragged) await trim(this.#options.io, this.#options.directory, one)
  }

  #failed(reason: string, cause?: unknown): Error {
    const { id } = this.#options.header
    return storeError('STORE_WRITE_FAILED', { id, reason }, { cause })
  }
}
