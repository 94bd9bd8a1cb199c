import { describe, isHarnessError } from '@cordage/core/error'
import type { SessionHeader } from '@cordage/core/session'
import type { MemoryItem, SessionQuery } from '@cordage/core/store'

/** Where else a text is: what forgetting an item does not reach. */
export interface Copies {
  /** Facts by session, those of forks that began after them too. */
  readonly facts: Readonly<Record<string, readonly number[]>>
  /** What may be missing there, in words. */
  readonly gaps: readonly string[]
}

const MAX_HITS = 100

/** Looks for the texts of items in all sessions that may know them. */
export async function findCopies(
  sessionQuery: SessionQuery | undefined,
  items: readonly MemoryItem[],
  signal: AbortSignal,
): Promise<Copies> {
  const facts = new Map<string, Set<number>>()
  const gaps: string[] = []
  const add = (session: string, seq: number) => {
    facts.set(session, (facts.get(session) ?? new Set()).add(seq))
  }
  for (const { source } of items) add(source.session, source.seq)
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      signal.throwIfAborted()
      gaps.push(describe(error).message)
    }
  }
  if (sessionQuery === undefined) gaps.push('no row searches sessions (store-index)')
  else {
    for (const item of items) {
      await attempt(() => findFacts(sessionQuery, item, { add, gaps, signal }))
    }
    await attempt(() => followForks(sessionQuery, facts))
  }
  const sorted = [...facts].map(([id, seqs]) => [id, [...seqs].toSorted((a, b) => a - b)] as const)
  return { facts: Object.fromEntries(sorted), gaps: [...new Set(gaps)] }
}

interface Finding {
  readonly add: (session: string, seq: number) => void
  readonly gaps: string[]
  readonly signal: AbortSignal
}

async function findFacts(
  sessionQuery: SessionQuery,
  { text, project }: MemoryItem,
  { add, gaps, signal }: Finding,
): Promise<void> {
  const { hits, next, behind } = await sessionQuery.events({
    text: `"${text.replaceAll('"', ' ')}"`,
    ...(project === undefined ? {} : { project }),
    children: true,
    archived: true,
    limit: MAX_HITS,
    signal,
  })
  for (const { session, seq } of hits) add(session, seq)
  if (next !== undefined) gaps.push(`more than ${MAX_HITS} facts have it`)
  if (behind > 0) gaps.push(`${behind} sessions are not searched yet`)
}

/**
 * A fork begins with facts of its parent, which are found in the parent alone. Sessions that are
 * gone hold nothing any more.
 */
async function followForks(
  sessionQuery: SessionQuery,
  facts: Map<string, Set<number>>,
): Promise<void> {
  // Those that are added on the way are looked at as well.
  for (const [id, seqs] of facts) {
    const forks = await forksOf(sessionQuery, id)
    if (!forks) facts.delete(id)
    for (const { id: fork, parent } of forks ?? []) {
      const inherited = [...seqs].filter((seq) => seq < (parent?.seq ?? 0))
      const known = facts.get(fork) ?? []
      if (inherited.length > 0) facts.set(fork, new Set([...known, ...inherited]))
    }
  }
}

/** `undefined` where there is no such session. */
async function forksOf(
  sessionQuery: SessionQuery,
  id: string,
): Promise<SessionHeader[] | undefined> {
  try {
    const { children } = await sessionQuery.trace(id)
    return children.map(({ header }) => header).filter(({ parent }) => parent?.kind === 'fork')
  } catch (error) {
    if (isHarnessError(error, 'SESSION_NOT_FOUND')) return undefined
    throw error
  }
}
