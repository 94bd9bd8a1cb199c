import { rmSync } from 'node:fs'
import { sessionError } from '@cordage/core/session'
import type { SessionSummary, Store } from '@cordage/core/store'
import { exportsAtHome } from '../export/exports-at-home.ts'
import { harmless } from '../print/table.ts'
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
      await expectFree(store, id)
      // First: whoever runs a deletion again that was cut short has an id only while its session is there.
      const { found, unreadable } = exportsAtHome(host.home, id)
      for (const path of found) {
        rmSync(path)
        process.stderr.write(`deleted ${path}\n`)
      }
      for (const path of unreadable) process.stderr.write(`not looked into: ${harmless(path)}\n`)
      await store.delete(id)
      process.stderr.write(`deleted ${id}\n`)
      const others = await store.list({ children: true, archived: true })
      for (const other of others.filter(({ header }) => header.parent?.id === id)) {
        process.stderr.write(`not deleted: ${relation(other)}\n`)
      }
    }
    process.stderr.write(notReached)
    return 0
  })
}

/** Its exports stay where the session does. */
async function expectFree(store: Store, id: string): Promise<void> {
  const found = await store.list({ children: true, archived: true, idPrefix: id })
  const session = found.find(({ header }) => header.id === id)
  if (session?.busy) throw sessionError('SESSION_BUSY', { id })
  // One that cannot be listed may be there nevertheless, and says itself what is wrong with it.
  if (!session) await (await store.open(id, { mode: 'read' })).close()
}

function relation({ header }: SessionSummary): string {
  const { id, parent } = header
  return parent?.kind === 'fork'
    ? `${id} was forked from it, has what they share, and stays readable`
    : `${id} was started by it and stays readable`
}
