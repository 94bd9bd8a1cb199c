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

/** Whether the session `id` is the import of the transcript `sha256`. */
export async function isImported(
  { store, sessions }: ImportPlace,
  id: string,
  sha256: string,
): Promise<boolean> {
  const same = await store.list({ idPrefix: id, children: true, archived: true })
  if (!same.some(({ header }) => header.id === id)) return false
  const session = await sessions.open(id, { mode: 'read' })
  const origin = session.state(sessionImported)
  await session.close()
  return origin === sha256
}
