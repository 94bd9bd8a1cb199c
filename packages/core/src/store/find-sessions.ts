import type { SessionSummary, Store } from './store.ts'

/** The session of that id, else those whose id begins so; children and those put away too. */
export async function findSessions(store: Store, id: string): Promise<readonly SessionSummary[]> {
  const found = await store.list({ children: true, archived: true, idPrefix: id })
  const exact = found.find(({ header }) => header.id === id)
  return exact ? [exact] : found
}
