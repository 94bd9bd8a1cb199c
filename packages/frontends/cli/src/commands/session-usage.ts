import type { SessionSummary } from '@cordage/core/store'
import { jsonText } from '../print/table.ts'
import { breakDown, type Breakdown } from '../usage/breakdown.ts'
import { usageReader, type SessionUsage } from '../usage/session-usage.ts'
import { breakdownText, usageJson, usagesText, usageText } from '../usage/usage-text.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { projectFilter, storeOf } from './sessions.ts'
import { withHarness } from './with-harness.ts'

export interface SessionUsageOptions extends ListOptions {
  readonly project?: string
  /** Epoch milliseconds. */
  readonly since?: number
  readonly by?: Breakdown
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
      if (wanted.some(({ header }) => header.id === id)) continue
      const found = all.find(({ header }) => header.id === id)
      // Opening says what is the matter with one that is not listed.
      wanted.push(found ?? { header: (await store.open(id, { mode: 'read' })).header, ...NOTHING })
    }
    if (given.length === 0)
      wanted.push(...all.filter((one) => isRoot(one) && isIn(one, of, options)))
    const read = usageReader(store, all, options)
    const usages: SessionUsage[] = []
    for (const one of wanted) usages.push(await read(one))
    if (usages.length === 0) {
      throw cliError('USAGE', { reason: 'There is no session of that kind.' })
    }
    process.stdout.write(printed(usages, given.length === 1, options))
    return 0
  })
}

function printed(
  usages: readonly SessionUsage[],
  isOne: boolean,
  { by, output }: SessionUsageOptions,
): string {
  if (output === 'json') return jsonText(by ? breakDown(by, usages) : usages.map(usageJson))
  if (by) return breakdownText(by, usages)
  const [only] = usages
  return isOne && only ? usageText(only) : usagesText(usages)
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
