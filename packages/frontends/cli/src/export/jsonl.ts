import { jsonLine } from '../print/table.ts'
import { blobHashes } from './blob-refs.ts'
import type { ExportedSession } from './exported-session.ts'

/** Of the lines' shape, not of the facts in them. */
export const EXPORT_FORMAT = 1

/**
 * A line for the header, one for each fact as the log has it, one for each blob behind the first
 * fact that speaks of it, and one that says that this was all.
 */
export async function* jsonlOf(session: ExportedSession): AsyncGenerator<string> {
  yield line({ cordage: 'session', format: EXPORT_FORMAT, header: session.header })
  const carried = new Set<string>()
  let facts = 0
  let blobs = 0
  for await (const fact of session.read()) {
    yield line(fact)
    facts += 1
    for (const hash of blobHashes(fact.data)) {
      if (carried.has(hash)) continue
      carried.add(hash)
      const bytes = await session.blob(hash)
      if (!bytes) continue
      blobs += 1
      yield line({ blob: hash, base64: Buffer.from(bytes).toString('base64') })
    }
  }
  yield line({ end: { facts, blobs } })
}

function line(value: unknown): string {
  return `${jsonLine(value)}\n`
}
