import type { Missing } from '@cordage/core/store'
import type { Found, Survey, Trouble } from './survey.ts'

/** A batch whose facts before `limit` are facts of the session. */
export interface Chosen extends Found {
  readonly limit: number
}

export interface Choice {
  /** In order; no two hold the same fact. */
  readonly batches: readonly Chosen[]
  readonly missing: readonly Missing[]
}

/** Which of the batches that were found make up the log, and what is missing between them. */
export function chooseBatches({ frames, troubles }: Survey): Choice {
  const batches: Chosen[] = []
  const missing: Missing[] = []
  const segments = Map.groupBy(frames, ({ meta }) => meta.segment)
  let limit = Infinity
  let end = 0
  for (const number of [...segments.keys()].sort((a, b) => b - a)) {
    const found = segments.get(number) ?? []
    const facts = found.filter(({ meta }) => meta.kind === 'facts' && meta.from < limit)
    const { chain, rivals } = chainOf(facts)
    batches.unshift(...chain.map((frame) => ({ ...frame, limit })))
    missing.push(...rivals.map(rivalNotice))
    end = Math.max(end, ...found.map(({ meta }) => Math.min(meta.to, limit)))
    // Where a segment begins, the one before it had ended: what stands there later is no fact.
    limit = Math.min(limit, ...found.map(({ meta }) => meta.from))
  }
  missing.push(...gapsIn(batches, troubles, end))
  // Even a session to which nothing happened has a header.
  if (frames.length + missing.length === 0) {
    missing.push({ from: 0, to: undefined, reason: 'no segment holds anything' })
  }
  return { batches, missing: missing.sort((a, b) => a.from - b.from) }
}

/** The batches of one segment in order; where several claim a place, the one that fits. */
function chainOf(facts: readonly Found[]): { chain: Found[]; rivals: Found[] } {
  const chain: Found[] = []
  const rivals: Found[] = []
  const checks = new Set<string>()
  const followed = new Set(facts.map(({ meta }) => meta.prev))
  const places = Map.groupBy(facts, ({ meta }) => meta.from)
  for (const from of [...places.keys()].sort((a, b) => a - b)) {
    const claims = (places.get(from) ?? []).filter(({ check }) => !checks.has(check))
    const last = chain.at(-1)
    const best =
      claims.find(({ meta }) => meta.prev === last?.check) ??
      claims.find(({ check }) => followed.has(check)) ??
      claims[0]
    for (const claim of claims) {
      // The same batch may be there twice.
      if (checks.has(claim.check)) continue
      checks.add(claim.check)
      if (claim === best && from >= (last?.meta.to ?? 0)) chain.push(claim)
      else rivals.push(claim)
    }
  }
  return { chain, rivals }
}

function rivalNotice({ file, start, meta }: Found): Missing {
  const reason = `segment ${file.number} holds another batch of these numbers at byte ${start}`
  return { from: meta.from, to: meta.to, reason: `${reason}, which was left out` }
}

function gapsIn(batches: readonly Chosen[], troubles: readonly Trouble[], end: number): Missing[] {
  const gaps: Missing[] = []
  let next = 0
  let last: Chosen | undefined
  for (const batch of batches) {
    const { from, to } = batch.meta
    if (from > next) gaps.push({ from: next, to: from, reason: between(troubles, last, batch) })
    next = Math.min(to, batch.limit)
    last = batch
  }
  const after = troubles.filter(({ file, at }) => isAfter({ file, start: at }, last))
  const [trouble] = after
  const known = Math.max(end, ...after.map(({ meta }) => meta?.to ?? 0))
  if (known > next) gaps.push({ from: next, to: known, reason: between(troubles, last, undefined) })
  else if (trouble) gaps.push({ from: next, to: undefined, reason: textOf(trouble) })
  return gaps
}

/** What lies between two batches, by the place in the files. */
function between(
  troubles: readonly Trouble[],
  last: Chosen | undefined,
  next: Chosen | undefined,
): string {
  const inside = troubles.filter(({ file, at }) => {
    const place = { file, start: at }
    return isAfter(place, last) && (next === undefined || isAfter(next, place))
  })
  if (inside.length > 0) return [...new Set(inside.map(textOf))].slice(0, 3).join('; ')
  const [from, to] = [last?.meta.segment ?? 0, next?.meta.segment ?? 0]
  if (to > from + 1) return `nothing is left of segment ${from + 1}`
  return 'the batch that held them is gone'
}

type Place = Pick<Found, 'file' | 'start'>

function isAfter(place: Place, other: Place | undefined): boolean {
  if (!other) return true
  const segments = place.file.number - other.file.number
  return segments > 0 || (segments === 0 && place.start > other.start)
}

function textOf({ file, at, reason }: Trouble): string {
  return `segment ${file.number} ${reason} at byte ${at}`
}
