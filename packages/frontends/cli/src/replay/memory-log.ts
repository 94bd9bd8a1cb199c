import { createHash } from 'node:crypto'
import type { Fact, Session } from '@cordage/core/session'
import type { SessionLog, Snapshot } from '@cordage/core/store'

/** A log that begins with `snapshot`, adds in memory only, and reads blobs of the real session. */
export function createMemoryLog(recorded: Session, snapshot: Snapshot): SessionLog {
  const facts: Fact[] = []
  const blobs = new Map<string, Uint8Array>()
  return {
    header: recorded.header,
    mode: 'write',
    snapshot,
    tail: [],
    live: [],
    notices: [],
    wantsSnapshot: false,
    append: async (added) => void facts.push(...added),
    appendLive: () => {},
    rotateLive: () => {},
    async *read(from) {
      if (from < snapshot.seq) {
        for await (const fact of recorded.read(from)) {
          if (fact.seq >= snapshot.seq) break
          yield fact
        }
      }
      for (const fact of facts) if (fact.seq >= from) yield fact
    },
    async putBlob(bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex')
      blobs.set(hash, bytes)
      return hash
    },
    getBlob: async (hash) => blobs.get(hash) ?? recorded.getBlob(hash),
    refresh: async () => ({ facts: [], live: [] }),
    close: async () => {},
  }
}
