import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { CompactionFigures } from './compaction-once.ts'
import type { Row } from './row.ts'

const RUNS = 3

/** What it takes to compact a history of ten megabytes, besides the model. */
export async function measureCompaction(): Promise<Row[]> {
  return [...rowsOf('results'), ...rowsOf('talk')]
}

function rowsOf(what: 'results' | 'talk'): Row[] {
  const runs = Array.from({ length: RUNS }, () => runOnce(what))
  const of = (figure: keyof CompactionFigures) => runs.map((run) => run[figure])
  const name = `compaction of 10 MB of ${what}`
  return [
    { name, unit: 'ms', samples: of('ms'), limit: { of: 'median', at: 5_000 } },
    { name: `${name}: longest stall`, unit: 'ms', samples: of('stallMs') },
    {
      name: `${name}: most held`,
      unit: 'MB',
      samples: of('heldMb'),
      limit: { of: 'max', at: 100 },
    },
    { name: `${name}: left of it`, unit: 'KB', samples: of('leftBytes').map((one) => one / 1024) },
  ]
}

function runOnce(what: string): CompactionFigures {
  const script = join(import.meta.dirname, 'compaction-once.ts')
  const run = spawnSync(process.execPath, ['--expose-gc', script, what], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(run.stderr)
  return JSON.parse(run.stdout) as CompactionFigures
}
