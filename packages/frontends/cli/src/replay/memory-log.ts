import { createHash } from 'node:crypto'
import type { Fact, Session } from '@cordage/core/session'
import type { SessionLog, Snapshot } from '@cordage/core/store'

/** A log that goes on from fact `snapshot.seq` in memory only, with the blobs of the real one. */
export function createMemoryLog(
  recorded: Session,
  past: readonly Fact[],
  snapshot: Snapshot,
): SessionLog {
  const added: Fact[] = []
  const blobs = new Map<string, Uint8Array>()
  return {
    header: recorded.header,
    mode: 'write',
    snapshot,
    tail: [],
    live: [],
    notices: [],
    wantsSnapshot: false,
    append: async (facts) => void added.push(...facts),
    appendLive: () => {},
    rotateLive: () => {},
    async *read(from) {
      yield* past.slice(from, snapshot.seq)
      yield* added.slice(Math.max(0, from - snapshot.seq))
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
