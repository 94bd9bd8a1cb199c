import {
  decodeFrame,
  type Encoding,
  type Frame,
  frameMarker,
  type FrameProblem,
  markerOffset,
} from './frame.ts'

export interface SegmentPlace {
  readonly session: string
  readonly segment: number
  readonly encoding: Encoding
}

/** What a segment holds: whole frames that follow one another, and what stopped the reading. */
export interface Scan {
  readonly frames: readonly Frame[]
  /** Where the last of `frames` ends. */
  readonly end: number
  readonly problem: FrameProblem | undefined
  /** Facts of this session stand whole behind the problem, so it is no torn tail. */
  readonly survivors: boolean
}

export function scanSegment(bytes: Buffer, place: SegmentPlace): Scan {
  const frames: Frame[] = []
  let end = 0
  let problem: FrameProblem | undefined
  while (end < bytes.length) {
    const found = decodeFrame(bytes, end, place.encoding)
    problem = 'problem' in found ? found : misplacement(found, frames.at(-1), place)
    if ('problem' in found || problem) break
    frames.push(found)
    end = found.end
  }
  const next = frames.at(-1)?.meta.to ?? 0
  const survivors = problem !== undefined && hasSurvivors(bytes.subarray(end), place, next)
  return { frames, end, problem, survivors }
}

function misplacement(
  frame: Frame,
  previous: Frame | undefined,
  place: SegmentPlace,
): FrameProblem | undefined {
  const { meta } = frame
  if (meta.session !== place.session) {
    return { problem: 'damaged', reason: `holds a part of session ${meta.session}` }
  }
  const inPlace =
    meta.segment === place.segment &&
    meta.prev === (previous?.check ?? '') &&
    (previous === undefined || meta.from === previous.meta.to)
  return inPlace ? undefined : { problem: 'damaged', reason: 'holds a batch out of its place' }
}

/** Looks for any whole batch with facts from `next` on, wherever it stands in `bytes`. */
function hasSurvivors(bytes: Buffer, place: SegmentPlace, next: number): boolean {
  for (let at = bytes.indexOf(frameMarker); at >= 0; at = bytes.indexOf(frameMarker, at + 1)) {
    const start = at - markerOffset[place.encoding]
    if (start < 0) continue
    const found = decodeFrame(bytes, start, place.encoding)
    if ('problem' in found) continue
    if (found.meta.session === place.session && found.meta.to > next) return true
  }
  return false
}
