import type { Fact, SessionHeader } from '@cordage/core/session'
import { hasWords, type Io, type SessionWords, wordsOf } from '@cordage/core/store'
import { inflate } from './facts.ts'
import { decodeFrame, type Frame, frameHead, type FrameMeta } from './frame.ts'
import { readWhole } from './io.ts'
import type { SegmentFile } from './segment.ts'

/** Read of a segment: its beginning tells what a session is about. */
const windowBytes = 64 * 1024
/** A batch that inflates to more is passed over. */
const maxBatchBytes = 256 * 1024
/** A fact's line begins with `seq`, `time` and `type`. */
const typeWithin = 200

/**
 * What a log says of itself near its beginning, and what was known when its newest segment was
 * begun or soon after. Best effort: a log that cannot be read has no words.
 */
export async function readWords(
  io: Io,
  header: SessionHeader,
  files: readonly SegmentFile[],
): Promise<SessionWords> {
  const first = files[0] ? await wordsIn(io, header, files[0]) : {}
  let later: SessionWords = {}
  // Who only claimed a segment has not written to it yet.
  for (const file of files.slice(1).toReversed().slice(0, 3)) {
    later = await wordsIn(io, header, file)
    if (Object.keys(later).length > 0) break
  }
  const { firstWords = later.firstWords } = first
  return { ...first, ...later, ...(firstWords === undefined ? {} : { firstWords }) }
}

/** A part of a segment that was read: the whole frames in it, and one that is longer than it. */
interface Window {
  readonly bytes: Buffer
  readonly frames: readonly Frame[]
  readonly cut: { readonly meta: FrameMeta; readonly end: number } | undefined
}

async function wordsIn(io: Io, header: SessionHeader, file: SegmentFile): Promise<SessionWords> {
  try {
    const window = await windowAt(io, header, file, 0)
    const { cut } = window
    const words = await wordsOfWindow(window, file)
    // A long snapshot is stepped over: what it knows is said outside of it.
    if (cut?.meta.kind !== 'snapshot') return words
    const after = await wordsOfWindow(await windowAt(io, header, file, cut.end), file)
    return { ...words, ...cut.meta.words, ...after }
  } catch {
    // Opening the session says what is wrong with it; a list is not the place.
    return {}
  }
}

async function windowAt(
  io: Io,
  header: SessionHeader,
  { path, encoding, number }: SegmentFile,
  from: number,
): Promise<Window> {
  const bytes = await readWhole(io, path, windowBytes, from)
  const shares = header.parent?.kind === 'fork'
  const frames: Frame[] = []
  let at = 0
  while (at < bytes.length) {
    const frame = decodeFrame(bytes, at, encoding)
    if ('problem' in frame || frame.meta.segment !== number) break
    if (frame.meta.session !== header.id && !shares) break
    frames.push(frame)
    at = frame.end
  }
  const cut = frameHead(bytes, at, encoding)
  return { bytes, frames, cut: cut && { ...cut, end: from + cut.end } }
}

async function wordsOfWindow(window: Window, { encoding }: SegmentFile): Promise<SessionWords> {
  const small = window.frames.filter(({ meta }) => {
    return meta.kind === 'facts' && meta.raw <= maxBatchBytes
  })
  const snapshot = window.frames.findLast(({ meta }) => meta.kind === 'snapshot')
  const text = small.length > 0 ? await inflate(window.bytes, small, encoding) : Buffer.alloc(0)
  return { ...snapshot?.meta.words, ...wordsOf([...linesIn(text)].flatMap(factIn)) }
}

function* linesIn(text: Buffer): Generator<Buffer> {
  for (let start = 0, end: number; (end = text.indexOf(10, start)) >= 0; start = end + 1) {
    yield text.subarray(start, end)
  }
}

/** Facts without words are not even decoded: a beginning of 64 KB may hold a megabyte of them. */
function factIn(line: Buffer): Fact[] {
  const type = /"type":"([^"]*)"/.exec(line.toString('latin1', 0, typeWithin))?.[1]
  return type !== undefined && hasWords(type) ? [JSON.parse(line.toString()) as Fact] : []
}
