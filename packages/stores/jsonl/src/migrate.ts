import type { Fact } from '@cordage/core/session'
import { type IoLock, storeError } from '@cordage/core/store'
import { readFacts } from './facts.ts'
import { formatSteps } from './format-steps.ts'
import { formatVersion } from './frame.ts'
import type { JsonlStoreOptions } from './options.ts'
import { readPast } from './past.ts'
import { rewriteLog } from './rewrite.ts'
import { openSegments, type SegmentReader } from './segment.ts'

export interface MigratedSession {
  readonly id: string
  readonly directory: string
  readonly lock: IoLock
}

/**
 * Brings the log of a session that is about to be written to into the present format; the old one
 * is kept as `log.format-<n>`. Throws `STORE_FORMAT_NEWER`.
 */
export async function migrateLog(
  options: JsonlStoreOptions,
  { id, directory, lock }: MigratedSession,
): Promise<void> {
  const { io, steps = formatSteps } = options
  const open = () => openSegments(io, directory, id, { steps })
  const reader = await open()
  const format = await formatOf(reader)
  if (format > formatVersion) throw storeError('STORE_FORMAT_NEWER', { id, format })
  if (format === formatVersion) return
  const { header, damage } = await readPast(reader, id)
  // Opening says so.
  if (damage !== undefined) return
  const facts = () => readAll(open, id)
  await rewriteLog(options, { directory, lock, keepAs: `log.format-${format}` }, { header, facts })
}

/** Of the newest segment that holds anything: a log is rewritten whole. */
async function formatOf(reader: SegmentReader): Promise<number> {
  for (const file of reader.files.toReversed()) {
    const head = await reader.head(file)
    if (head) return head.v
  }
  // Nothing can be read: opening says what is wrong with it.
  return formatVersion
}

async function* readAll(open: () => Promise<SegmentReader>, id: string): AsyncGenerator<Fact> {
  yield* readFacts(await open(), id, 0)
}
