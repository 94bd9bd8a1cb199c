import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Row } from './row.ts'

/** Twice the size of the result: once to write it, and once more for what is not collected yet. */
const LIMIT_MB = 400

/** What a result of 200 MB takes of memory besides itself, and what a page of it takes later. */
export async function measureSpill(): Promise<Row[]> {
  const script = join(import.meta.dirname, 'spill-once.ts')
  const run = spawnSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(run.stderr)
  const { kept, page } = JSON.parse(run.stdout) as { kept: number; page: number }
  const limit = { of: 'max', at: LIMIT_MB } as const
  return [
    { name: 'result of 200 MB: memory', unit: 'MB', samples: [kept], limit },
    { name: 'page of 200 MB: memory', unit: 'MB', samples: [page], limit },
  ]
}
