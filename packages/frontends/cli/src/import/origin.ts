import { sessionImported, type NewFact } from '@cordage/core/session'
import type { ImportFormat } from './entry.ts'
import type { ImportPlace } from './import-place.ts'
import type { LeftBehind } from './left-behind.ts'

interface Origin {
  readonly from: ImportFormat
  readonly session: string | undefined
  readonly path: string
  readonly sha256: string
  readonly left: LeftBehind
}

/** The last fact of an import. */
export function originFact({ from, session, path, sha256, left }: Origin): NewFact {
  const named = session === undefined ? {} : { session }
  return sessionImported({ from, ...named, path, sha256, left: left.counts })
}

/** Of a session that `id` started. It begins otherwise: the beginning of an id is to name one. */
export function childId(id: string, number: number): string {
  return `agent-${number}-${id}`
}

/**
 * Whether the session `id` is the whole import of the transcript `sha256`. One that was cut short
 * has no origin, and its remains are removed.
 */
export async function stateOf(
  { store, sessions }: ImportPlace,
  id: string,
  sha256: string,
): Promise<'none' | 'whole'> {
  const [same, agents] = [
    await store.list({ idPrefix: id, children: true }),
    await store.list({ idPrefix: 'agent-', children: true }),
  ]
  if (same.some(({ header }) => header.id === id)) {
    const session = await sessions.open(id, { mode: 'read' })
    const origin = session.state(sessionImported)
    await session.close()
    if (origin === sha256) return 'whole'
    await store.delete(id)
  }
  for (const { header } of agents) if (header.id.endsWith(`-${id}`)) await store.delete(header.id)
  return 'none'
}
