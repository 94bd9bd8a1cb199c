import type { Fact } from '@cordage/core/session'
import {
  hasWords,
  type Io,
  type SessionWords,
  type Snapshot,
  titleOf,
  wordsOf,
} from '@cordage/core/store'
import { inflate } from './facts.ts'
import type { Frame } from './frame.ts'
import { readWhole } from './io.ts'
import { scanSegment } from './scan.ts'
import type { SegmentFile } from './segment.ts'

/** Read of a segment: its beginning tells what a session is about. */
const windowBytes = 64 * 1024
/** A batch that inflates to more is passed over. */
const maxBatchBytes = 256 * 1024
/** A fact's line begins with `seq`, `time` and `type`. */
const typeWithin = 200

/**
 * What a log says of itself near its beginning, and the title that it had when its newest segment
 * was begun. Best effort: a log that cannot be read has no words.
 */
export async function readWords(
  io: Io,
  session: string,
  files: readonly SegmentFile[],
): Promise<SessionWords> {
  const [first, last] = [files.at(0), files.length > 1 ? files.at(-1) : undefined]
  try {
    const words = first ? await wordsAt(io, session, first) : {}
    // What cannot be read of the newest segment takes nothing from what the first one says.
    const later = last ? await wordsAt(io, session, last).catch(none) : {}
    const { title = words.title } = later
    return { ...later, ...words, ...(title === undefined ? {} : { title }) }
  } catch {
    // Opening the session says what is wrong with it; a list is not the place.
    return {}
  }
}

function none(): SessionWords {
  return {}
}

async function wordsAt(io: Io, session: string, file: SegmentFile): Promise<SessionWords> {
  const { number: segment, encoding, path } = file
  const bytes = await readWhole(io, path, windowBytes)
  const { frames } = scanSegment(bytes, { session, segment, encoding })
  const small = frames.filter(({ meta, spoiled }) => meta.raw <= maxBatchBytes && !spoiled)
  const linesOf = async (some: readonly Frame[]) =>
    some.length === 0 ? [] : [...linesIn(await inflate(bytes, some, encoding))]
  const snapshots = small.filter(({ meta }) => meta.kind === 'snapshot')
  const [snapshot] = await linesOf(snapshots.slice(-1))
  const lines = await linesOf(small.filter(({ meta }) => meta.kind === 'facts'))
  return { ...(snapshot ? titleIn(snapshot) : {}), ...wordsOf(lines.flatMap(factIn)) }
}

function* linesIn(text: Buffer): Generator<Buffer> {
  for (let start = 0, end: number; (end = text.indexOf(10, start)) >= 0; start = end + 1) {
    yield text.subarray(start, end)
  }
}

function titleIn(line: Buffer): SessionWords {
  const title = titleOf((JSON.parse(line.toString()) as { snapshot: Snapshot }).snapshot)
  return title === undefined ? {} : { title }
}

/** Facts without words are not even decoded: a beginning of 64 KB may hold a megabyte of them. */
function factIn(line: Buffer): Fact[] {
  const type = /"type":"([^"]*)"/.exec(line.toString('latin1', 0, typeWithin))?.[1]
  return type !== undefined && hasWords(type) ? [JSON.parse(line.toString()) as Fact] : []
}
