import { queueChange, queueRows } from '@cordage/core/agent'
import { textOf } from '@cordage/core/message'
import type { InboxState } from '@cordage/core/session'
import { jsonText, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { withHarness } from './with-harness.ts'

/**
 * Shows or changes what waits for the agent of a session, and starts nothing. Throws what
 * `queueChange` does, and `SESSION_BUSY` for a change while another process owns the session.
 */
export async function queueOf(given: string, request: string, options: ListOptions) {
  return withHarness(options, async ({ ctx }) => {
    const sessions = ctx.get('sessions')
    if (!sessions) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
    const looks = ['', 'list'].includes(request)
    const id = await completeId(ctx, given)
    const session = await sessions.open(id, { mode: looks ? 'read' : 'write' })
    try {
      const change = queueChange(session.inbox, request)
      if (change) await session.append([change])
      show(session.inbox, options)
    } finally {
      await session.close()
    }
    return 0
  })
}

function show(inbox: InboxState, { output }: ListOptions): void {
  const entries = inbox.map(({ message, ...rest }) => {
    return { id: message.id, ...rest, text: textOf(message) }
  })
  if (output === 'json') process.stdout.write(jsonText(entries))
  else if (inbox.length === 0) process.stderr.write('Nothing waits.\n')
  else process.stdout.write(tableText(queueRows(inbox)))
}
