import { hash } from 'node:crypto'
import type { Fact, SessionHeader } from '@cordage/core/session'
import { type Snapshot, storeError } from '@cordage/core/store'
import type { Ragged } from './aside.ts'
import { factsOf, inflate } from './facts.ts'
import { formatVersion, type Frame, type Seal } from './frame.ts'
import { headerIn } from './format-steps.ts'
import type { LoadedSegment, SegmentReader } from './segment.ts'

/** Bytes after the last whole batch of a segment that nobody sealed: a write that never ended. */
export interface TornTail {
  readonly segment: LoadedSegment
  readonly reason: string
}

export function raggedOf({ segment: { file, scan } }: TornTail): Ragged {
  return { file, from: scan.end }
}

/** What opening needs of a log, read from the newest segment that holds a snapshot. */
export interface Past {
  readonly header: SessionHeader
  readonly snapshot: Snapshot | undefined
  readonly tail: readonly Fact[]
  readonly next: number
  /** For the segment that is begun next. */
  readonly unsealed: readonly Seal[]
  readonly torn: readonly TornTail[]
  readonly notices: readonly string[]
  /** Acknowledged facts after `tail` cannot be read: nothing may be added behind them. */
  readonly damage: string | undefined
}

/** Throws `STORE_DAMAGED` only when not even the header can be read, and `STORE_FORMAT_NEWER`. */
export async function readPast(reader: SegmentReader, id: string): Promise<Past> {
  const window = await newestSegments(reader)
  const header = headerOf(
    window.map(({ segment }) => segment),
    id,
  )
  if (!header) {
    const first = window[0]?.segment.scan.problem?.reason
    const reason = first ? `its first segment ${first}` : 'it has no segment that holds anything'
    throw storeError('STORE_DAMAGED', { id, reason })
  }
  const snapshot = window[0] && (await readSnapshot(window[0].segment, window[0].snapshot))
  const tail: Fact[] = []
  let damage: string | undefined
  for (const { segment, snapshot: from } of window) {
    const frames = segment.scan.frames.filter(({ meta, start }) => {
      return meta.kind === 'facts' && start >= (from?.start ?? 0)
    })
    const expected = (snapshot?.seq ?? 0) + tail.length
    const first = frames[0]?.meta.from ?? expected
    if (first !== expected) damage = `the facts from ${expected} to ${first} are missing`
    if (damage !== undefined) break
    for await (const group of factsOf(segment, frames)) for (const fact of group) tail.push(fact)
    damage = segment.damage
    if (damage !== undefined) break
  }
  const loaded = window.map(({ segment }) => segment)
  return {
    header,
    snapshot,
    tail,
    next: (snapshot?.seq ?? 0) + tail.length,
    unsealed: loaded.filter(({ seal }) => !seal).map(sealFor),
    torn: damage === undefined ? tornTails(loaded) : [],
    notices: [...newerNotices(loaded), ...loaded.flatMap(spoiledNotices)],
    damage,
  }
}

interface Candidate {
  readonly segment: LoadedSegment
  readonly snapshot: Frame | undefined
}

/** From the newest segment with a usable snapshot on (else from the first), oldest first. */
async function newestSegments(reader: SegmentReader): Promise<Candidate[]> {
  const window: Candidate[] = []
  for (const file of reader.files.toReversed()) {
    const segment = await reader.load(file)
    const snapshot = segment.scan.frames.findLast(({ meta, spoiled }) => {
      return meta.kind === 'snapshot' && !spoiled && meta.v === formatVersion
    })
    window.unshift({ segment, snapshot })
    if (snapshot) break
  }
  return window
}

/** Segments that a fork shares bear the header of the session that they are from. */
function headerOf(window: readonly LoadedSegment[], id: string): SessionHeader | undefined {
  const first = window.map(({ scan }) => scan.frames[0]?.meta)
  const found = first.find((meta) => meta?.session === id && meta.header)
  return headerIn(found, window[0]?.steps ?? [])
}

function newerNotices(window: readonly LoadedSegment[]): string[] {
  const frames = window.flatMap(({ scan }) => scan.frames)
  const format = frames.reduce((newest, { meta }) => Math.max(newest, meta.v), formatVersion)
  if (format === formatVersion) return []
  return [
    `Written in format ${format}, which is newer than this version writes: it can be looked at,` +
      ' and what is not known here may be missing. Upgrade to go on with it.',
  ]
}

export async function readSnapshot(
  { bytes, file }: LoadedSegment,
  frame: Frame | undefined,
): Promise<Snapshot | undefined> {
  if (!frame) return undefined
  const payload = await inflate(bytes, [frame], file.encoding)
  const { snapshot } = JSON.parse(payload.toString()) as { snapshot: Snapshot }
  return snapshot
}

function sealFor({ file, bytes, scan }: LoadedSegment): Seal {
  const sha256 = hash('sha256', bytes.subarray(0, scan.end), 'hex')
  return { segment: file.number, bytes: scan.end, sha256 }
}

function tornTails(window: readonly LoadedSegment[]): TornTail[] {
  return window.flatMap((segment) => {
    const { problem, end } = segment.scan
    if (segment.seal || !problem) return []
    const count = segment.bytes.length - end
    const what = `segment ${segment.file.number} ${problem.reason}`
    return [{ segment, reason: `${what}; its last ${count} bytes are no part of the session` }]
  })
}

function spoiledNotices({ file, scan }: LoadedSegment): string[] {
  return scan.frames.some((frame) => frame.spoiled)
    ? [`The snapshot in segment ${file.number} is damaged; the facts themselves were read instead.`]
    : []
}
