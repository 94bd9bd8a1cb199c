import { rmSync } from 'node:fs'
import type { SessionSummary } from '@cordage/core/store'
import { exportsAtHome } from '../export/exports-at-home.ts'
import type { GlobalOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { storeOf } from './sessions.ts'
import { withHarness } from './with-harness.ts'

const notReached =
  'not reached: backups, exports that are not in the home, ' +
  'and what models, commands and servers were sent\n'

/** Removes sessions with every copy that is in the home, and says what was not reached. */
export async function deleteSessions(ids: readonly string[], options: GlobalOptions) {
  return withHarness(options, async ({ ctx, host }) => {
    const store = storeOf(ctx)
    for (const given of ids) {
      const id = await completeId(ctx, given)
      await store.delete(id)
      process.stderr.write(`deleted ${id}\n`)
      for (const path of exportsAtHome(host.home, id)) {
        rmSync(path)
        process.stderr.write(`deleted ${path}\n`)
      }
      const others = await store.list({ children: true, archived: true })
      for (const other of others.filter(({ header }) => header.parent?.id === id)) {
        process.stderr.write(`not deleted: ${relation(other)}\n`)
      }
    }
    process.stderr.write(notReached)
    return 0
  })
}

function relation({ header }: SessionSummary): string {
  const { id, parent } = header
  return parent?.kind === 'fork'
    ? `${id} was forked from it, has what they share, and stays readable`
    : `${id} was started by it and stays readable`
}
