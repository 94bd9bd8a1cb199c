import { sessionArchived } from '@cordage/core/session'
import type { GlobalOptions } from './options.ts'
import { changeSession } from './session-change.ts'
import { withHarness } from './with-harness.ts'

export interface ArchiveOptions extends GlobalOptions {
  /** Takes them out again. */
  readonly undo: boolean
}

/** Puts sessions away, so that lists leave them out. Throws `SESSION_BUSY`. */
export async function archiveSessions(
  ids: readonly string[],
  { undo, ...options }: ArchiveOptions,
) {
  return withHarness(options, async ({ ctx }) => {
    for (const given of ids) {
      const id = await changeSession(ctx, given, [sessionArchived({ archived: !undo })])
      process.stderr.write(`${id} is ${undo ? 'in lists again' : 'put away'}\n`)
    }
    return 0
  })
}
