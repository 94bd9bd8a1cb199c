import { basename, join } from 'node:path'
import { assert } from '@cordage/core/kernel'
import type { Fact, SessionHeader } from '@cordage/core/session'
import { checkSessionId, type Io, type Snapshot, storeError } from '@cordage/core/store'
import { readFacts } from './facts.ts'
import { type FrameMeta, formatVersion, type Seal } from './frame.ts'
import { closingOnFailure, errorCode, placeFile, readWhole } from './io.ts'
import { formatSteps } from './format-steps.ts'
import { placeSession } from './new-log.ts'
import { createSegment, OpenSegment } from './open-segment.ts'
import type { JsonlStoreOptions } from './options.ts'
import { readSnapshot } from './past.ts'
import { writeFacts } from './rewrite.ts'
import { openSegments, type SegmentReader } from './segment.ts'
import { Writer } from './writer.ts'

export interface ForkSource {
  readonly id: string
  readonly directory: string
  /** The first fact that the fork is not given. */
  readonly before: number
}

/**
 * Makes the folder of a session that begins with what another one holds. Sealed segments and
 * blobs are linked, so that both folders hold them whole; the facts after those are written anew.
 */
export async function forkLog(
  options: JsonlStoreOptions,
  source: ForkSource,
  header: SessionHeader,
): Promise<void> {
  checkSessionId(header.id)
  const { io, compression: encoding, steps = formatSteps } = options
  const reader = await openSegments(io, source.directory, source.id, { steps })
  const writer = await placeSession(options, header.id, async (draft) => {
    const shared = await shareSegments(io, reader, source, draft)
    await shareBlobs(io, source.directory, draft)
    const snapshot = await snapshotIn(reader, shared.last, source.before)
    const number = shared.last + 1
    const file = await createSegment(io, draft, { number, encoding })
    assert(file, `the fresh folder ${draft} already holds segment ${number}`)
    const segment = new OpenSegment(number, file, shared.next)
    const before = { seals: shared.seals, ragged: [] }
    const writer = new Writer({ ...options, header, directory: draft }, segment, before)
    const facts = factsUntil(reader, source, shared.next)
    await closingOnFailure(writer, () => writeFacts(writer, facts, snapshot))
    return writer
  })
  await writer.close()
}

interface Shared {
  /** The number of the last segment that was linked. */
  readonly last: number
  readonly next: number
  /** For those that no linked segment seals. */
  readonly seals: readonly Seal[]
}

/** Links the segments that hold nothing but facts before the boundary, from the first on. */
async function shareSegments(
  io: Io,
  reader: SegmentReader,
  { id, before }: ForkSource,
  draft: string,
): Promise<Shared> {
  const seals = new Map<number, Seal>()
  let shared: Shared = { last: 0, next: 0, seals: [] }
  for (const [index, file] of reader.files.entries()) {
    const seal = await reader.sealOf(file.number)
    const head = await reader.head(file)
    const end = await endOf(reader, index)
    const format = head?.v ?? formatVersion
    if (format > formatVersion) throw storeError('STORE_FORMAT_NEWER', { id, format })
    const readable = head?.v === formatVersion || seal?.bytes === 0
    if (!seal || !readable || file.number !== shared.last + 1) break
    if (end === undefined || end > before) break
    await linkOrCopy(io, file.path, join(draft, 'log', basename(file.path)), seal.bytes)
    for (const inside of head?.seals ?? []) seals.delete(inside.segment)
    seals.set(file.number, { session: id, ...seal })
    shared = { last: file.number, next: end, seals: [...seals.values()] }
  }
  return shared
}

/** Where the facts of a segment end: where the next one that holds anything begins. */
async function endOf(reader: SegmentReader, index: number): Promise<number | undefined> {
  for (const file of reader.files.slice(index + 1)) {
    const head: FrameMeta | undefined = await reader.head(file)
    if (head) return head.from
    if ((await reader.sealOf(file.number))?.bytes !== 0) return undefined
  }
  return undefined
}

async function shareBlobs(io: Io, from: string, draft: string): Promise<void> {
  const folder = join(from, 'blobs')
  const entries = await io.list(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  })
  const blobs = entries.filter(({ name, kind }) => kind === 'file' && /^[0-9a-f]{64}$/.test(name))
  if (blobs.length === 0) return
  const into = join(draft, 'blobs')
  await io.makeDirectory(into)
  for (const { name } of blobs) await linkOrCopy(io, join(folder, name), join(into, name))
  await io.syncDirectory(into)
}

/** A second name for a file, or where the system has none, the first `bytes` of it. */
async function linkOrCopy(io: Io, from: string, to: string, bytes = Infinity): Promise<void> {
  try {
    await io.link(from, to)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw error
    await placeFile(io, to, await readWhole(io, from, bytes))
  }
}

/** The newest snapshot after the linked segments, which opening would otherwise do without. */
async function snapshotIn(
  reader: SegmentReader,
  after: number,
  before: number,
): Promise<Snapshot | undefined> {
  for (const file of reader.files.toReversed()) {
    if (file.number <= after) return undefined
    const segment = await reader.load(file)
    const frame = segment.scan.frames.findLast(({ meta, spoiled }) => {
      const { kind, to, v } = meta
      return kind === 'snapshot' && !spoiled && to <= before && v === formatVersion
    })
    if (frame) return readSnapshot(segment, frame)
  }
  return undefined
}

async function* factsUntil(
  reader: SegmentReader,
  { id, before }: ForkSource,
  from: number,
): AsyncGenerator<Fact> {
  let next = from
  if (next < before) {
    for await (const fact of readFacts(reader, id, from)) {
      yield fact
      next = fact.seq + 1
      if (next === before) return
    }
  }
  if (next === before) return
  const reason = `it ends before fact ${next}, and ${before} were asked for`
  throw storeError('STORE_DAMAGED', { id, reason })
}
