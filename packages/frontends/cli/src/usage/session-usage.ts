import { isHarnessError } from '@cordage/core/error'
import { isChildOf, sessionTitle, type SessionHeader } from '@cordage/core/session'
import type { SessionSummary, Store } from '@cordage/core/store'
import { addSpend, type Spend } from './spend.ts'
import { Tally, type Tallied } from './tally.ts'

export interface SessionUsage {
  readonly header: SessionHeader
  readonly title: string | undefined
  /** Of the session's own facts; what a fork took over from its parent is counted there. */
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

/** What a session and its children spent, from their facts alone. */
export async function usageOfSession(
  store: Store,
  summary: SessionSummary,
  all: readonly SessionSummary[],
  options: UsageOptions = {},
  above: ReadonlySet<string> = new Set(),
): Promise<SessionUsage> {
  const { id, parent } = summary.header
  const { since = 0 } = options
  const inherited = parent?.kind === 'fork' ? (parent.seq ?? 0) : 0
  const own = new Tally()
  let title = summary.title
  let damaged = summary.damaged
  try {
    const log = await store.open(id, { mode: 'read' })
    try {
      for await (const fact of log.read(0)) {
        own.add(fact, fact.seq >= inherited && fact.time >= since)
        if (sessionTitle.is(fact)) title = fact.data.title
      }
    } finally {
      await log.close()
    }
  } catch (error) {
    if (!isHarnessError(error)) throw error
    damaged = error.message
  }
  const known = new Set([...above, id])
  const children: SessionUsage[] = []
  for (const child of all) {
    if (!isChildOf(child.header, id) || known.has(child.header.id)) continue
    children.push(await usageOfSession(store, child, all, options, known))
  }
  const total = children.reduce((sum, child) => addSpend(sum, child.total), own.total)
  const note = damaged === undefined ? {} : { damaged }
  return { header: summary.header, title, own, children, total, ...note }
}
