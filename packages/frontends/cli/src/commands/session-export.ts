import { resolve } from 'node:path'
import { formatOf, textOf, type ExportFormat } from '../export/formats.ts'
import { writeFile, writeOut } from '../export/output.ts'
import { storedSession } from '../export/stored-session.ts'
import { harmless } from '../print/table.ts'
import type { GlobalOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { storeOf } from './sessions.ts'
import { withHarness } from './with-harness.ts'

export interface ExportOptions extends GlobalOptions {
  readonly format?: ExportFormat
  readonly out?: string
  readonly force: boolean
}

/** Takes a session out, into a file or to stdout; exit 1 where not all of it could be read. */
export async function exportSession(given: string, options: ExportOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const store = storeOf(ctx)
    const id = await completeId(ctx, given)
    const notices = new Set<string>()
    const log = await store.open(id, { mode: 'read' })
    try {
      const session = storedSession(store, log, (notice) => notices.add(notice))
      const { out } = options
      const format = options.format ?? formatOf(out ?? '') ?? 'jsonl'
      const text = textOf(session, format)
      if (out === undefined) await writeOut(text)
      else await writeFile(resolve(out), text, options.force)
      if (out !== undefined) process.stderr.write(`exported ${id} to ${harmless(out)}\n`)
    } finally {
      await log.close()
    }
    for (const notice of notices) process.stderr.write(`cordage: ${harmless(notice)}\n`)
    return notices.size === 0 ? 0 : 1
  })
}
