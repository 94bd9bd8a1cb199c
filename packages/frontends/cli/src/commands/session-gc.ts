import { harmless, jsonText, sizeText } from '../print/table.ts'
import type { ListOptions } from './options.ts'
import { upkeepOf } from './sessions.ts'
import { withHarness } from './with-harness.ts'

export interface CollectCommandOptions extends ListOptions {
  readonly maxAgeDays?: number
  readonly maxTotalMb?: number
  readonly keepArchived: boolean
  readonly dryRun: boolean
}

const mb = 1024 * 1024

/** Removes what no session needs, and sessions beyond the limits given; none that is in use. */
export async function collectSessions(options: CollectCommandOptions) {
  const { maxAgeDays, maxTotalMb, keepArchived, dryRun } = options
  return withHarness(options, async ({ ctx }) => {
    const collected = await upkeepOf(ctx).collect({
      ...(maxAgeDays === undefined ? {} : { maxAgeDays }),
      ...(maxTotalMb === undefined ? {} : { maxTotalBytes: maxTotalMb * mb }),
      keepArchived,
      dryRun,
      blobs: true,
    })
    for (const path of collected.refused) {
      process.stderr.write(`not reached, the permissions do not allow it: ${harmless(path)}\n`)
    }
    if (options.output === 'json') {
      process.stdout.write(jsonText(collected))
      return 0
    }
    const { sessions, blobs, aside, leftovers, bytes } = collected
    const verb = dryRun ? 'would remove' : 'removed'
    for (const { id, bytes: size, reason } of sessions) {
      const why = reason === 'age' ? 'too old' : 'space is short'
      process.stdout.write(`${verb} session ${id} (${sizeText(size)}): ${why}\n`)
    }
    const rest = `${blobs} blobs that nothing names, ${aside} files set aside, ${leftovers} leftovers`
    process.stdout.write(`${verb} ${sessions.length} sessions, ${rest}: ${sizeText(bytes)}\n`)
    return 0
  })
}
