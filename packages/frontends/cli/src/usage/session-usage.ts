import { isHarnessError } from '@cordage/core/error'
import { isChildOf, sessionSalvaged, sessionTitle, type SessionHeader } from '@cordage/core/session'
import type { SessionSummary, Store } from '@cordage/core/store'
import { addSpend, type Spend } from './spend.ts'
import { Tally, type Tallied } from './tally.ts'

export interface SessionUsage {
  readonly header: SessionHeader
  readonly title: string | undefined
  /**
   * Of the session's own facts. What a fork took over from its parent is counted there, and what
   * was salvaged from a session that is still there too.
   */
  readonly own: Tallied
  /** Sessions that it started, and theirs. */
  readonly children: readonly SessionUsage[]
  /** With all children. */
  readonly total: Spend
  /** Why it is not all that there was. */
  readonly damaged?: string
}

export interface UsageOptions {
  /** Only what was spent from this time on, in epoch milliseconds. */
  readonly since?: number | undefined
}

/** Counts sessions of `all` with their children: from their facts alone, one fact at a time. */
export function usageReader(
  store: Store,
  all: readonly SessionSummary[],
  { since = 0 }: UsageOptions = {},
): (summary: SessionSummary) => Promise<SessionUsage> {
  const byParent = Map.groupBy(all, ({ header }) => header.parent?.id)
  const ids = new Set(all.map(({ header }) => header.id))

  const read = async (
    summary: SessionSummary,
    above: ReadonlySet<string> = new Set(),
  ): Promise<SessionUsage> => {
    const { header } = summary
    const { id } = header
    const { own, title, damaged } = await count(store, summary, { since, ids })
    const known = new Set([...above, id])
    const children: SessionUsage[] = []
    for (const child of byParent.get(id) ?? []) {
      if (!isChildOf(child.header, id) || known.has(child.header.id)) continue
      children.push(await read(child, known))
    }
    const total = children.reduce((sum, child) => addSpend(sum, child.total), own.total)
    const note = damaged === undefined ? {} : { damaged }
    return { header, title, own, children, total, ...note }
  }
  return (summary) => read(summary)
}

/** What is a session's own; of one that is damaged, as much as can be read. */
async function count(
  store: Store,
  summary: SessionSummary,
  { since, ids }: { readonly since: number; readonly ids: ReadonlySet<string> },
) {
  const { id, parent } = summary.header
  const inherited = parent?.kind === 'fork' ? (parent.seq ?? 0) : 0
  const own = new Tally()
  let { title, damaged } = summary
  try {
    const log = await store.open(id, { mode: 'read' })
    try {
      for await (const fact of log.read(0)) {
        own.add(fact, fact.seq >= inherited && fact.time >= since)
        if (sessionTitle.is(fact)) title = String(fact.data?.title)
        if (sessionSalvaged.is(fact) && ids.has(fact.data?.from)) own.restart()
      }
    } finally {
      await log.close()
    }
  } catch (error) {
    if (!isHarnessError(error)) throw error
    damaged = error.message
  }
  return { own, title, damaged }
}
