import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRoot, definePlugin, mount, own } from '@cordage/core/kernel'
import type { Memories, NewMemory } from '@cordage/core/store'
import plugin from '../src/index.ts'

/** The row over a home, as one process has it. */
export interface Process {
  readonly memories: Memories
  /** What it has logged. */
  readonly told: string[]
  close(): Promise<void>
}

export interface Place extends AsyncDisposable {
  readonly home: string
  readonly file: string
  start(): Promise<Process>
  /** The bytes of every file that SQLite keeps there. */
  bytes(): Promise<string>
}

export async function makePlace(): Promise<Place> {
  const home = await mkdtemp(join(tmpdir(), 'cordage-memories-'))
  const started: Process[] = []
  return {
    home,
    file: join(home, 'memories.db'),
    start: async () => {
      const process = await startProcess(home)
      started.push(process)
      return process
    },
    bytes: async () => {
      const files = (await readdir(home)).map((name) => readFile(join(home, name), 'latin1'))
      return (await Promise.all(files)).join('\n')
    },
    [Symbol.asyncDispose]: async () => {
      for (const process of started) await process.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

export async function startProcess(home: string): Promise<Process> {
  const told: string[] = []
  const root = createRoot({ log: ({ text }) => told.push(text) })
  const host = definePlugin({
    name: 'host',
    provides: ['host'],
    apply: (ctx) => own(ctx, 'host', { env: {}, home, cwd: home, version: '0' }),
  })
  const rows = Object.entries({ host, 'store-memories': plugin }).map(([id, row]) =>
    mount(root, { id, plugin: row, config: {}, timeoutMs: 20_000 }),
  )
  for (const row of rows) await row.settled()
  let closed: Promise<void> | undefined
  return {
    memories: root.memories,
    told,
    close: () => (closed ??= closeRows(rows.toReversed())),
  }
}

async function closeRows(rows: readonly { dispose(): Promise<unknown> }[]): Promise<void> {
  for (const row of rows) await row.dispose()
}

export function memory(text: string, more: Partial<NewMemory> = {}): NewMemory {
  const source = { session: 's', seq: 1, by: 'user' }
  return { text, scope: 'project', basis: 'user_said', source, ...more }
}
