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
 * them: what is held in the last third beside the first, in which all that is kept of such an
 * output has come, and how much more than before the command it ever is.
 */
export async function measureShell(): Promise<Row[]> {
  return (['foreground', 'background'] as const).flatMap((where) => {
    const { heap, rss } = runOnce(where)
    const kept = where === 'foreground' ? 64 : 8
    return [
      slope(`600 MB of output, ${where}: heap`, heap),
      slope(`600 MB of output, ${where}: memory`, rss),
      {
        name: `600 MB of output, ${where}: most held`,
        unit: 'MB',
        samples: [Math.max(...heap) - (heap[0] ?? 0)],
        limit: { of: 'median', at: 2 * kept + ROOM_MB },
      },
    ]
  })
}

function slope(name: string, [, ...samples]: readonly number[]): Row {
  const third = Math.floor(samples.length / 3)
  return {
    name,
    unit: 'MB',
    samples: samples.slice(-third),
    bare: samples.slice(0, third),
    than: 'the first',
    limit: { of: 'ratio', at: 1.1 },
  }
}

function runOnce(where: string): Memory {
  const script = join(import.meta.dirname, 'shell-once.ts')
  const run = spawnSync(process.execPath, ['--expose-gc', script, where], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(run.stderr)
  return JSON.parse(run.stdout) as Memory
}
