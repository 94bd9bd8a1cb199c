import { createHash } from 'node:crypto'
import { definePlugin, own } from '@cordage/core/kernel'
import { sessionError, type Fact, type SessionHeader } from '@cordage/core/session'
import { storeError, type SessionLog, type Store } from '@cordage/core/store'

/** Sessions that leave nothing behind. A store that keeps them has to pass `storeContract`. */
export default definePlugin({
  name: 'store-incognito',
  provides: ['store'],
  apply: (ctx) => own(ctx, 'store', incognito),
})

const location = 'nowhere'
async function forgotten(id: string): Promise<never> {
  throw sessionError('SESSION_NOT_FOUND', { id, location })
}

const incognito: Store = {
  location,
  create: async (header) => newLog(header),
  stage: async (header) => ({ ...newLog(header), publish: async () => {} }),
  open: forgotten,
  list: async () => [],
  delete: forgotten,
  fork: forgotten,
  salvage: forgotten,
}

function newLog(header: SessionHeader): SessionLog {
  const facts: Fact[] = []
  const blobs = new Map<string, Uint8Array>()
  return {
    header,
    mode: 'write',
    // What opening would have found.
    snapshot: undefined,
    tail: [],
    live: [],
    notices: [],
    wantsSnapshot: false,
    append: async (added) => void facts.push(...added),
    async *read(from) {
      yield* facts.slice(from)
    },
    async putBlob(bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex')
      blobs.set(hash, bytes)
      return hash
    },
    async getBlob(hash) {
      const bytes = blobs.get(hash)
      if (bytes) return bytes
      throw storeError('BLOB_MISSING', { id: header.id, hash })
    },
    appendLive: () => {},
    rotateLive: () => {},
    refresh: async () => ({ facts: [], live: [] }),
    close: async () => {},
  }
}
