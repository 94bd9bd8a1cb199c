import type { RootContext } from '@cordage/core/kernel'
import { cliError } from './errors.ts'

const anyOf = { children: true, archived: true }

/** The full id of a session of which a person gave the beginning; unknown ones stay as given. */
export async function completeId(ctx: RootContext, id: string): Promise<string> {
  // Every id begins with it: a script whose variable is not set means no session, not the only one.
  if (id === '') throw cliError('USAGE', { reason: 'The id of a session is empty.' })
  const sessions = (await ctx.get('store')?.list({ ...anyOf, idPrefix: id })) ?? []
  const ids = sessions.map((session) => session.header.id)
  if (ids.includes(id)) return id
  if (ids.length > 1) throw cliError('SESSION_AMBIGUOUS', { id, ids: ids.slice(0, 5) })
  return ids[0] ?? id
}
