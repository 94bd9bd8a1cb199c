import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Row } from './row.ts'

interface Memory {
  readonly heap: number[]
  readonly rss: number[]
}

/** What a command's output may take besides what is kept of it, which is held twice at the end. */
const ROOM_MB = 32

/**
 * Ten minutes of a megabyte of output a second, as fast as a real shell writes and the tool reads
 * them: whether what is held grows once all that is kept of such an output has come, and how much
 * more than before the command it ever is.
 */
export async function measureShell(): Promise<Row[]> {
  return (['foreground', 'background'] as const).flatMap((where) => {
    const { heap, rss } = runOnce(where)
    const kept = where === 'foreground' ? 64 : 8
    return [
      heapSlope(`600 MB of output, ${where}: heap`, heap),
      memorySlope(`600 MB of output, ${where}: memory`, rss),
      {
        name: `600 MB of output, ${where}: most held`,
        unit: 'MB',
        samples: [Math.max(...heap) - (heap[0] ?? 0)],
        limit: { of: 'median', at: 2 * kept + ROOM_MB },
      },
    ]
  })
}

/** What is held in use, from the first third to the last. */
function heapSlope(name: string, [, ...samples]: readonly number[]): Row {
  const [first, , last] = thirdsOf(samples)
  return slope(name, { bare: first, samples: last, than: 'the first', at: 1.1 })
}

/** What the process has of the system: it takes its time to have its share, then takes no more. */
function memorySlope(name: string, [, ...samples]: readonly number[]): Row {
  const [, middle, last] = thirdsOf(samples)
  return slope(name, { bare: middle, samples: last, than: 'the middle', at: 1.05 })
}

interface Slope {
  readonly bare: readonly number[]
  readonly samples: readonly number[]
  readonly than: string
  readonly at: number
}

function slope(name: string, { bare, samples, than, at }: Slope): Row {
  return { name, unit: 'MB', samples, bare, than, limit: { of: 'ratio', at } }
}

function thirdsOf(samples: readonly number[]): [number[], number[], number[]] {
  const third = Math.floor(samples.length / 3)
  const part = (at: number) => samples.slice(at * third, (at + 1) * third)
  return [part(0), part(1), part(2)]
}

function runOnce(where: string): Memory {
  const script = join(import.meta.dirname, 'shell-once.ts')
  const run = spawnSync(process.execPath, ['--expose-gc', script, where], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(run.stderr)
  return JSON.parse(run.stdout) as Memory
}
