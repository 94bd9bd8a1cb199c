import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createJsonlStore, nodeIo, ThreadCatalog } from '../../packages/stores/jsonl/src/index.ts'
import { longId, makeLongLog, type LongLog } from './long-log.ts'
import { makeSessions, optionsFor } from './many-sessions.ts'
import { median, type Row } from './row.ts'

const FACTS = 300_000
const OPENS = 5
const LISTS = 7
const most = (at: number) => ({ of: 'median', at }) as const

/** What long sessions cost to open and to add to; their logs are written by sessions as they are. */
export async function measureLong(): Promise<Row[]> {
  return within(async (folder) => {
    const plans: [name: string, limit: number | undefined, plan: Omit<LongLog, 'directory'>][] = [
      [`${FACTS} facts`, 100, { facts: FACTS, resultBytes: 600, compactEvery: 100 }],
      ['1 GB', 200, { facts: 600_000, resultBytes: 50_000, compactEvery: 20 }],
      // More than any model takes at once: only to see what becomes of snapshots.
      ['100000 facts on the surface', undefined, { facts: 100_000, resultBytes: 600 }],
    ]
    const rows: Row[] = []
    for (const [name, limit, plan] of plans) {
      const directory = join(folder, name.replace(' ', '-'))
      const appends = await makeLongLog({ ...plan, directory })
      const opened = Array.from({ length: OPENS }, () => openOnce(directory))
      const figure = (of: keyof Opened) => opened.map((one) => one[of])
      const limits = (at: number) => (limit === undefined ? {} : { limit: most(at) })
      rows.push(
        { name: `open: ${name}`, unit: 'ms', samples: figure('ms'), ...limits(limit ?? 0) },
        { name: `memory: ${name}`, unit: 'MB', samples: figure('mb'), ...limits(60) },
        { name: `snapshot: ${name}`, unit: 'MB', samples: figure('snapshotMb') },
        { name: `log: ${name}`, unit: 'MB', samples: [sizeOf(directory)] },
        { name: `slowest append: ${name}`, unit: 'ms', samples: [slowest(appends)] },
        flatness(`append: ${name}`, appends),
      )
    }
    return rows
  })
}

function slowest(appends: readonly number[]): number {
  return appends.reduce((most, ms) => Math.max(most, ms), 0)
}

/** The last tenth of the appends beside the first, in the middle, so that no pause counts. */
function flatness(name: string, appends: readonly number[]): Row {
  const [, ...tenths] = Array.from({ length: 10 }, (_, at) => {
    const length = Math.floor(appends.length / 10)
    return median(appends.slice(at * length, (at + 1) * length)) * 1000
  })
  const [first = 0, last = 0] = [tenths[0], tenths.at(-1)]
  const limit = { of: 'ratio', at: 1.5 } as const
  return { name, unit: 'us', samples: [last], bare: [first], than: 'the first', limit }
}

interface Opened {
  readonly ms: number
  readonly mb: number
  readonly snapshotMb: number
}

function openOnce(directory: string): Opened {
  const script = join(import.meta.dirname, 'open-once.ts')
  const { stdout } = spawnSync(process.execPath, [script, directory], { encoding: 'utf8' })
  return JSON.parse(stdout) as Opened
}

function sizeOf(directory: string): number {
  const log = join(directory, longId, 'log')
  const sizes = readdirSync(log).map((name) => statSync(join(log, name)).size)
  return sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20
}

/** What a list costs: without a catalog, and with one that is cold, known, and in use. */
export async function measureLists(): Promise<Row[]> {
  return within(async (folder) => {
    const rows: Row[] = []
    for (const [count, limit, at] of [
      [4_000, undefined, 150],
      [10_000, 50, 100],
    ] as const) {
      const directory = join(folder, `${count}`)
      await makeSessions(directory, count)
      const what = limit === undefined ? `list ${count} sessions` : `first ${limit} of ${count}`
      const list = limit === undefined ? {} : { limit }
      const cold = await lists(directory, list, 1)
      const samples: number[] = []
      const first: number[] = []
      for (let process = 0; process < LISTS; process += 1) {
        const [begin = 0, ...later] = await lists(directory, list, 4)
        first.push(begin)
        samples.push(...later)
      }
      rows.push(
        { name: `${what}, catalog cold`, unit: 'ms', samples: cold },
        { name: `${what}, thread started`, unit: 'ms', samples: first },
        { name: what, unit: 'ms', samples, limit: most(at) },
      )
    }
    return rows
  })
}

async function lists(root: string, options: object, times: number): Promise<number[]> {
  const catalog = new ThreadCatalog({ root })
  const store = createJsonlStore({ ...optionsFor(root), io: nodeIo, catalog })
  const samples: number[] = []
  for (let time = 0; time < times; time += 1) {
    const begin = performance.now()
    await store.list(options)
    samples.push(performance.now() - begin)
  }
  await store.close()
  return samples
}

async function within<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'cordage-bench-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
