import { hash } from 'node:crypto'
import { type Io, storeError } from '@cordage/core/store'
import {
  decodeFrame,
  type FrameMeta,
  formatVersion,
  frameMarker,
  markerOffset,
  type Seal,
} from './frame.ts'
import { readWhole } from './io.ts'
import type { SegmentFile } from './segment.ts'
import { reasonOf } from './system-error.ts'

/** A frame that is whole, wherever it was found. */
export interface Found {
  readonly file: SegmentFile
  readonly start: number
  readonly end: number
  readonly check: string
  readonly meta: FrameMeta
}

/** Bytes that are no whole frame. */
export interface Trouble {
  readonly file: SegmentFile
  readonly at: number
  readonly reason: string
  /** What the frame that lay there says of itself. */
  readonly meta: FrameMeta | undefined
}

/** All that the files of a log still hold, whatever lies between. */
export interface Survey {
  readonly frames: readonly Found[]
  readonly troubles: readonly Trouble[]
  /** The newest that has the session's header. */
  readonly head: FrameMeta | undefined
}

/** Throws `STORE_FORMAT_NEWER`. A file that cannot be read is a trouble like any other. */
export async function surveyLog(
  io: Io,
  id: string,
  files: readonly SegmentFile[],
): Promise<Survey> {
  const frames: Found[] = []
  const troubles: Trouble[] = []
  for (const file of files) {
    try {
      const swept = sweep(await readWhole(io, file.path), file, id)
      frames.push(...swept.frames)
      troubles.push(...swept.troubles)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
      if (error.code === 'STORE_FORMAT_NEWER') throw error
      const reason = `cannot be read (${reasonOf(error)})`
      troubles.push({ file, at: 0, reason, meta: undefined })
    }
  }
  const sessions = sessionsIn(frames, id)
  const all = frames.filter(({ meta }) => sessions.has(meta.session))
  const seals = sealsIn(all)
  const left = await unvouched(io, files, seals)
  const own = all.filter(({ file }) => !left.has(file))
  return {
    frames: own,
    troubles: [
      ...troubles.filter(({ file, at }) => at < (seals.get(file.number)?.bytes ?? Infinity)),
      ...frames.filter(({ meta }) => !sessions.has(meta.session)).map(foreign),
    ],
    head: own.findLast(({ meta }) => meta.header?.id === id)?.meta,
  }
}

function sweep(bytes: Buffer, file: SegmentFile, id: string) {
  const frames: Found[] = []
  const troubles: Trouble[] = []
  for (let at = 0; at < bytes.length;) {
    const found = decodeFrame(bytes, at, file.encoding)
    if (!('problem' in found)) {
      const { end, check, meta } = found
      if (meta.v > formatVersion) throw storeError('STORE_FORMAT_NEWER', { id, format: meta.v })
      frames.push({ file, start: at, end, check, meta })
      at = end
      continue
    }
    const { problem, reason, format = 0, meta } = found
    if (problem === 'newer') throw storeError('STORE_FORMAT_NEWER', { id, format })
    troubles.push({ file, at, reason, meta })
    at = nextFrame(bytes, at + 1, file)
  }
  return { frames, troubles }
}

/** Where the next whole frame begins, however far; the end where there is none. */
function nextFrame(bytes: Buffer, from: number, { encoding }: SegmentFile): number {
  const offset = markerOffset[encoding]
  let marker = bytes.indexOf(frameMarker, from + offset)
  for (; marker >= 0; marker = bytes.indexOf(frameMarker, marker + 1)) {
    const found = decodeFrame(bytes, marker - offset, encoding)
    // One whose text is whole tells which facts are lost.
    if (!('problem' in found) || found.meta) return marker - offset
  }
  return bytes.length
}

/** The session itself, and those that it shares segments with. */
function sessionsIn(frames: readonly Found[], id: string): ReadonlySet<string> {
  const sessions = new Set([id, ...sharedWithout(frames, id)])
  const seals = frames.filter(({ meta }) => meta.seals?.some((seal) => seal.session))
  for (let before = 0; before < sessions.size;) {
    before = sessions.size
    for (const { meta } of seals.filter(({ meta }) => sessions.has(meta.session))) {
      for (const { session } of meta.seals ?? []) if (session) sessions.add(session)
    }
  }
  return sessions
}

/** Whose segments stand before the first own one of a fork whose seals for them are spoiled. */
function sharedWithout(frames: readonly Found[], id: string): string[] {
  const own = frames.filter(({ meta }) => meta.session === id)
  const headers = own.flatMap(({ meta }) => meta.header ?? [])
  // Of a fork that nobody went on with yet the header is in the same frame as the seals.
  if (own.length === 0 || headers.some(({ parent }) => parent?.kind !== 'fork')) return []
  const first = Math.min(...own.map(({ meta }) => meta.segment))
  const sealed = sealsIn(own)
  const shared = frames.filter(({ meta: { segment } }) => segment < first && !sealed.has(segment))
  return shared.map(({ meta }) => meta.session)
}

function sealsIn(frames: readonly Found[]): ReadonlyMap<number, Seal> {
  const seals = frames.flatMap(({ meta }) => meta.seals ?? [])
  return new Map(seals.map((seal) => [seal.segment, seal]))
}

/** Of several files for one number a seal tells which one it is; the others hold no facts. */
async function unvouched(
  io: Io,
  files: readonly SegmentFile[],
  seals: ReadonlyMap<number, Seal>,
): Promise<ReadonlySet<SegmentFile>> {
  const left = new Set<SegmentFile>()
  for (const [number, rivals] of Map.groupBy(files, (file) => file.number)) {
    const seal = seals.get(number)
    if (rivals.length < 2 || !seal) continue
    for (const file of rivals) {
      const bytes = await readWhole(io, file.path, seal.bytes)
      if (hash('sha256', bytes, 'hex') !== seal.sha256) left.add(file)
    }
    // With all of them changed, any may be the one that once was vouched for.
    if (rivals.every((file) => left.has(file))) rivals.forEach((file) => left.delete(file))
  }
  return left
}

function foreign({ file, start, meta }: Found): Trouble {
  return { file, at: start, reason: `holds a part of session ${meta.session}`, meta: undefined }
}
