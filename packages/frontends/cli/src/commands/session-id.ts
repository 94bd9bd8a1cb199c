import type { RootContext } from '@cordage/core/kernel'
import { findSessions } from '@cordage/core/store'
import { cliError } from './errors.ts'

/** The full id of a session of which a person gave the beginning; unknown ones stay as given. */
export async function completeId(ctx: RootContext, id: string): Promise<string> {
  // Every id begins with it: a script whose variable is not set means no session, not the only one.
  if (id === '') throw cliError('USAGE', { reason: 'The id of a session is empty.' })
  const store = ctx.get('store')
  const ids = store ? (await findSessions(store, id)).map(({ header }) => header.id) : []
  if (ids.length > 1) throw cliError('SESSION_AMBIGUOUS', { id, ids: ids.slice(0, 5) })
  return ids[0] ?? id
}
