import type { RootContext } from '@cordage/core/kernel'
import type { NewFact } from '@cordage/core/session'
import { cliError } from './errors.ts'
import { completeId } from './session-id.ts'

/** Adds facts to a session that no process owns, and gives its id. Throws `SESSION_BUSY`. */
export async function changeSession(
  ctx: RootContext,
  given: string,
  facts: readonly NewFact[],
): Promise<string> {
  const sessions = ctx.get('sessions')
  if (!sessions) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
  const session = await sessions.open(await completeId(ctx, given))
  try {
    await session.append(facts)
    return session.id
  } finally {
    await session.close()
  }
}
