import { toolResult, turnStart, type Fact, type FactOf, type Session } from '@cordage/core/session'
import type { RewindPoint } from './checkpoints.ts'
import { checkpointError } from './errors.ts'
import { checkpointFile, checkpointRestored, checkpointRestoring, type Before } from './events.ts'
import { contentOf } from './file-state.ts'

/** One file that was changed since the point. */
export interface Changed {
  readonly path: string
  /** What it was at the point. */
  readonly wanted: Before
  /** What it may hold if nobody else has changed it. */
  readonly left: ReadonlySet<string | null | undefined>
}

export interface History {
  readonly changed: readonly Changed[]
  /** The first fact of a rewind to this point that was interrupted, with the files it named. */
  readonly unfinished?: FactOf<typeof checkpointRestoring>
  readonly lastTurn: number
}

type FileFact = FactOf<typeof checkpointFile>

/** What the log says happened to files since a point. */
export async function readHistory(session: Session, to: RewindPoint): Promise<History> {
  const facts: Fact[] = []
  for await (const fact of session.read(0)) facts.push(fact)
  const unfinished = unfinishedRewind(facts)
  const from = boundaryOf(session, facts, to, unfinished)
  const unsure = unsureCalls(facts)
  const changed = byPath(facts).flatMap((all): Changed[] => {
    const first = all.find(({ seq, data }) => seq >= from && data.before !== undefined)
    if (first?.data.before === undefined) return []
    const left = leftBy(all, unsure, unfinished)
    return [{ path: first.data.path, wanted: first.data.before, left }]
  })
  const same = unfinished?.data.turn === (to === 'undo' ? undefined : to.turn)
  const lastTurn = facts.findLast(turnStart.is)?.data.turn ?? 0
  return { changed, lastTurn, ...(unfinished && same ? { unfinished } : {}) }
}

/** The first fact of a rewind without an end: a run that was killed, perhaps more than once. */
function unfinishedRewind(facts: readonly Fact[]) {
  const end = facts.findLastIndex((fact) => checkpointRestored.is(fact) || turnStart.is(fact))
  return facts.slice(end + 1).find(checkpointRestoring.is)
}

/** The first fact that is to be undone. */
function boundaryOf(
  { id }: Session,
  facts: readonly Fact[],
  to: RewindPoint,
  unfinished: Fact | undefined,
): number {
  if (to !== 'undo') {
    const start = facts.find((fact) => turnStart.is(fact) && fact.data.turn === to.turn)
    if (start) return start.seq
    const last = facts.findLast(turnStart.is)?.data.turn ?? 0
    throw checkpointError('CHECKPOINT_TURN_UNKNOWN', { id, turn: to.turn, last })
  }
  if (unfinished) return unfinished.seq
  const restored = facts.findLast(checkpointRestored.is)
  const later = restored && facts.slice(restored.seq).find(turnStart.is)
  if (restored && !later) return restored.data.since
  const reason = later ? `turn ${later.data.turn} came after it; name a turn` : 'there was none'
  throw checkpointError('CHECKPOINT_NOTHING_TO_UNDO', { id, reason })
}

/** Calls of which nobody knows whether they did what they were about to do. */
function unsureCalls(facts: readonly Fact[]): ReadonlySet<string> {
  const unsure = new Set<string>()
  for (const fact of facts) {
    if (checkpointFile.is(fact) && fact.data.callId) unsure.add(fact.data.callId)
    if (!toolResult.is(fact) || fact.data.error?.code === 'TOOL_OUTCOME_UNKNOWN') continue
    unsure.delete(fact.data.callId)
  }
  return unsure
}

function byPath(facts: readonly Fact[]): FileFact[][] {
  const paths = new Map<string, FileFact[]>()
  for (const fact of facts.filter(checkpointFile.is)) {
    const all = paths.get(fact.data.path)
    if (all) all.push(fact)
    else paths.set(fact.data.path, [fact])
  }
  return [...paths.values()]
}

/** What the last change was to leave, and where it may not have happened, what was there before. */
function leftBy(
  all: readonly FileFact[],
  unsure: ReadonlySet<string>,
  unfinished: Fact | undefined,
): ReadonlySet<string | null | undefined> {
  const left = new Set<string | null | undefined>()
  for (const { seq, data } of all.toReversed()) {
    left.add(data.after)
    const mayBeUndone =
      data.callId === undefined
        ? unfinished !== undefined && seq > unfinished.seq
        : unsure.has(data.callId)
    if (!mayBeUndone) break
    if (data.before !== undefined) left.add(contentOf(data.before))
  }
  // What nobody knows is nothing that a file can be.
  left.delete(undefined)
  return left
}
