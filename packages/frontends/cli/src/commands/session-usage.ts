import type { SessionSummary } from '@cordage/core/store'
import { jsonText } from '../print/table.ts'
import { usageOfSession } from '../usage/session-usage.ts'
import { usageJson, usagesText, usageText } from '../usage/usage-text.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { projectFilter, storeOf } from './sessions.ts'
import { withHarness } from './with-harness.ts'

export interface SessionUsageOptions extends ListOptions {
  readonly project?: string
  /** Epoch milliseconds. */
  readonly since?: number
}

/** Prints what sessions spent: those named, or all that nobody else started. */
export async function showUsage(given: readonly string[], options: SessionUsageOptions) {
  return withHarness(options, async ({ ctx }) => {
    const store = storeOf(ctx)
    const all = await store.list({ children: true })
    const of = await projectFilter(ctx, options)
    const wanted: SessionSummary[] = []
    for (const beginning of given) {
      const id = await completeId(ctx, beginning)
      const found = all.find(({ header }) => header.id === id)
      // Opening says what is the matter with one that is not listed.
      wanted.push(found ?? { header: (await store.open(id, { mode: 'read' })).header, ...NOTHING })
    }
    if (given.length === 0)
      wanted.push(...all.filter((one) => isRoot(one) && isIn(one, of, options)))
    const usages = []
    for (const one of wanted) usages.push(await usageOfSession(store, one, all, options))
    const [only, ...others] = usages
    if (only === undefined) throw cliError('USAGE', { reason: 'There is no session of that kind.' })
    const text = others.length > 0 || given.length === 0 ? usagesText(usages) : usageText(only)
    process.stdout.write(options.output === 'json' ? jsonText(usages.map(usageJson)) : text)
    return 0
  })
}

const NOTHING = { updatedAt: 0, bytes: 0 }

function isRoot({ header }: SessionSummary): boolean {
  return header.depth === 0
}

function isIn(
  { header, updatedAt }: SessionSummary,
  { project }: { readonly project?: string },
  { since = 0 }: SessionUsageOptions,
): boolean {
  return (project === undefined || header.project === project) && updatedAt >= since
}
