import type { Salvaged } from '@cordage/core/session'
import { harmless, jsonText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { withHarness } from './with-harness.ts'

/** Writes what can still be read of a damaged session into a new one, and says what cannot. */
export async function salvageSession(given: string, options: ListOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const sessions = ctx.get('sessions')
    if (!sessions) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
    const from = await completeId(ctx, given)
    const salvaged = await sessions.salvage(from, { project: process.cwd() })
    const text = options.output === 'json' ? jsonText(salvaged) : `${salvaged.id}\n`
    process.stdout.write(text)
    process.stderr.write(reportOf(salvaged))
    return 0
  })
}

function reportOf({ id, from, facts, missing, lostBlobs }: Salvaged): string {
  const gaps = missing.map((gap) => `missing: ${rangeOf(gap)}: ${harmless(gap.reason)}`)
  const blobs = lostBlobs.map((hash) => `missing: blob ${hash}: its bytes do not match`)
  const lost = gaps.length + blobs.length === 0 ? ['nothing is missing'] : [...gaps, ...blobs]
  const head = `${facts} facts of ${from} are in ${id}; ${from} is as it was.`
  return `${[head, ...lost].join('\n')}\n`
}

function rangeOf({ from, to }: Salvaged['missing'][number]): string {
  if (to === undefined) return `from fact ${from} on, if there were any`
  return to === from + 1 ? `fact ${from}` : `facts ${from} to ${to - 1}`
}
