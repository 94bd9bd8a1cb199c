import type { RootContext } from '@cordage/core/kernel'
import type { SessionSummary, Store } from '@cordage/core/store'
import { jsonText, oneLine, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { searchSessions } from './session-search.ts'
import { completeId } from './session-id.ts'
import { withHarness } from './with-harness.ts'

export interface SessionListOptions extends ListOptions {
  readonly limit: number
  /** Only sessions of this project directory. */
  readonly project?: string
}

export async function listSessions(options: SessionListOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const { limit, project } = options
    const list = await storeOf(ctx).list({ limit, ...(project === undefined ? {} : { project }) })
    if (options.output === 'json') process.stdout.write(jsonText(list))
    else if (list.length > 0) process.stdout.write(tableText(list.map(summaryLine)))
    else process.stderr.write('There is no session yet. Start one: cordage "what to do"\n')
    return 0
  })
}

export async function findInSessions(text: string, options: SessionListOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const found = await searchSessions(ctx, storeOf(ctx), text, options)
    const lines = found.map((hit) => [hit.id, `#${hit.seq}`, hit.type, hit.text])
    process.stdout.write(options.output === 'json' ? jsonText(found) : tableText(lines))
    if (found.length === 0) process.stderr.write(`No session says "${oneLine(text, 60)}".\n`)
    return found.length === 0 ? 1 : 0
  })
}

export async function deleteSessions(ids: readonly string[], options: ListOptions) {
  return withHarness(options, async ({ ctx }) => {
    const store = storeOf(ctx)
    for (const given of ids) {
      const id = await completeId(ctx, given)
      await store.delete(id)
      process.stderr.write(`deleted ${id}\n`)
    }
    return 0
  })
}

export function storeOf(ctx: RootContext): Store {
  const store = ctx.get('store')
  if (!store) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
  return store
}

function summaryLine(summary: SessionSummary): string[] {
  const { header, updatedAt, bytes, title, firstWords, damaged, busy } = summary
  const state = damaged === undefined ? (busy ? 'open' : '') : 'damaged'
  const words = damaged ?? title ?? firstWords ?? ''
  const size = `${Math.max(1, Math.round(bytes / 1024))} KB`
  return [header.id, timeText(updatedAt), size, state, header.project, oneLine(words, 80)]
}

export function timeText(time: number): string {
  return new Date(time).toLocaleString('sv-SE').slice(0, 16)
}
