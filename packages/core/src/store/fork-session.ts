import {
  inboxSplice,
  sessionError,
  turnEnd,
  turnStart,
  type ForkOptions,
  type Session,
  type SessionHeader,
} from '../session/index.ts'
import { openFold } from './open-fold.ts'
import type { SessionLog, Store } from './store.ts'

export interface Boundary {
  /** Of the session that is forked. */
  readonly header: SessionHeader
  /** The first fact that the fork is not given. */
  readonly before: number
}

/** Where a session is to be forked. Throws `OPEN_TURN`, `TURN_UNKNOWN`. */
export async function findBoundary(
  store: Store,
  id: string,
  { before, turn }: ForkOptions,
): Promise<Boundary> {
  const log = await store.open(id, { mode: 'read' })
  try {
    const place = before === undefined ? await endOf(log, turn) : undefined
    return { header: log.header, before: place ?? (await placeOf(log, before, turn)) }
  } finally {
    await log.close()
  }
}

/** The end, or where its last turn began, which is known without reading what was before. */
async function endOf(log: SessionLog, wanted: number | undefined): Promise<number | undefined> {
  const { turn, nextSeq } = await openFold(log, {})
  if (wanted !== undefined) return wanted === turn.turn ? turn.since : undefined
  if (!turn.open) return nextSeq
  throw sessionError('OPEN_TURN', { id: log.header.id, turn: turn.turn, seq: nextSeq })
}

/** Looks at every fact before the place: only they say whether a turn was open there. */
async function placeOf(
  log: SessionLog,
  before: number | undefined,
  turn: number | undefined,
): Promise<number> {
  const { id } = log.header
  let open: number | undefined
  let next = 0
  let found = turn === undefined
  for await (const fact of log.read(0)) {
    if (fact.seq === before) break
    found ||= turnStart.is(fact) && fact.data.turn === turn
    if (found && turn !== undefined) break
    if (turnStart.is(fact)) open = fact.data.turn
    if (turnEnd.is(fact)) open = undefined
    next = fact.seq + 1
  }
  if (!found) throw sessionError('TURN_UNKNOWN', { id, turn })
  if (open !== undefined) throw sessionError('OPEN_TURN', { id, turn: open, seq: next })
  return before ?? next
}

/** Closes in a fork what only the session that it came from goes on with. */
export async function disinherit(session: Session): Promise<void> {
  const removed = session.inbox.map(({ message }) => message.id)
  if (removed.length > 0) await session.append([inboxSplice({ removed, cause: 'edit' })])
  await session.repair()
}
