import { sessionError } from '@cordage/core/session'
import type { Lineage, SessionNode, SessionSummary, Store } from '@cordage/core/store'

/** Where a session comes from and what came of it. Throws `SESSION_NOT_FOUND`. */
export async function traceSession(store: Store, id: string): Promise<Lineage> {
  const listed = await store.list({ children: true, archived: true })
  const byId = new Map(listed.map((summary) => [summary.header.id, summary]))
  const own = byId.get(id)
  if (!own) throw sessionError('SESSION_NOT_FOUND', { id, location: store.location })
  const ancestors: SessionNode[] = []
  const seen = new Set([id])
  for (let at = parentOf(own, byId); at && !seen.has(at.header.id); at = parentOf(at, byId)) {
    seen.add(at.header.id)
    ancestors.push(nodeOf(at))
  }
  const children = listed
    .filter(({ header }) => header.parent?.id === id)
    .sort((a, b) => a.header.createdAt - b.header.createdAt)
  return { session: nodeOf(own), ancestors, children: children.map(nodeOf) }
}

function parentOf(
  { header }: SessionSummary,
  byId: ReadonlyMap<string, SessionSummary>,
): SessionSummary | undefined {
  return header.parent && byId.get(header.parent.id)
}

function nodeOf({ header, title, firstWords }: SessionSummary): SessionNode {
  return { header, title: title ?? firstWords ?? '' }
}
