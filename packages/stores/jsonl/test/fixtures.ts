import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionHeader } from '@cordage/core/session'
import type { Io } from '@cordage/core/store'
import { nodeIo } from '../src/node-io.ts'
import type { JsonlStoreOptions } from '../src/options.ts'
import { createJsonlStore, type JsonlStore } from '../src/store.ts'

/** The real disk without the waiting: what a power cut would lose is asked elsewhere. */
export const hastyIo: Io = {
  ...nodeIo,
  open: async (path, mode) => ({ ...(await nodeIo.open(path, mode)), sync: async () => {} }),
  syncDirectory: async () => {},
}

export interface Fixture {
  readonly root: string
  readonly store: JsonlStore
  /** Another store over the same folder. */
  another(more?: Partial<JsonlStoreOptions>): JsonlStore
  logFiles(id: string): Promise<string[]>
  dispose(): Promise<void>
}

/** A store over a fresh folder. */
export async function makeFixture(more: Partial<JsonlStoreOptions> = {}): Promise<Fixture> {
  const root = await mkdtemp(join(tmpdir(), 'cordage-jsonl-'))
  const opened: JsonlStore[] = []
  const another = (extra: Partial<JsonlStoreOptions> = {}): JsonlStore => {
    const store = createJsonlStore({
      directory: join(root, 'sessions'),
      segmentMaxBytes: 4 * 1024 * 1024,
      compression: 'zstd',
      io: hastyIo,
      ...more,
      ...extra,
    })
    opened.push(store)
    return store
  }
  return {
    root,
    store: another(),
    another,
    async logFiles(id) {
      const folder = join(root, 'sessions', id, 'log')
      return (await readdir(folder)).sort().map((name) => join(folder, name))
    },
    async dispose() {
      for (const store of opened) await store.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** The bytes of every file below `folder`, by path: to see that nothing was touched. */
export async function contentsOf(folder: string): Promise<Record<string, string>> {
  const contents: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith('lease.db')) continue
    const path = join(entry.parentPath, entry.name)
    contents[path.slice(folder.length + 1)] = (await readFile(path)).toString('base64')
  }
  return contents
}

export type { SessionHeader }
