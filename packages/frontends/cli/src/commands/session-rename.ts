import { sessionTitle } from '@cordage/core/session'
import { cliError } from './errors.ts'
import type { GlobalOptions } from './options.ts'
import { changeSession } from './session-change.ts'
import { withHarness } from './with-harness.ts'

/** Gives a session that nobody works in another title. Throws `SESSION_BUSY`. */
export async function renameSession(given: string, title: string, options: GlobalOptions) {
  const words = title.replaceAll(/\s+/g, ' ').trim()
  if (words === '') throw cliError('USAGE', { reason: 'A title has at least one word.' })
  return withHarness(options, async ({ ctx }) => {
    const id = await changeSession(ctx, given, [sessionTitle({ title: words, by: 'user' })])
    process.stderr.write(`${id} is called "${words}"\n`)
    return 0
  })
}
