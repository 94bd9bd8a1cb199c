import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Row } from './row.ts'

interface Memory {
  readonly heap: number
  readonly rss: number
}

/**
 * What each of 1,000 agents that wait takes, of the headless profile with everything that it gives
 * an agent: new ones, by the hundred, and all of them after a turn each.
 */
export async function measureAgents(): Promise<Row[]> {
  const { idle, used } = runOnce()
  const unit = 'KB'
  const limit = { of: 'median', at: 1_024 } as const
  const figures = (of: readonly Memory[]) => ({
    heap: of.map(({ heap }) => heap),
    rss: of.map(({ rss }) => rss),
  })
  return [
    { name: 'agent that waits, new: heap', unit, samples: figures(idle).heap, limit },
    { name: 'agent that waits, new: memory', unit, samples: figures(idle).rss, limit },
    { name: 'agent that waits, after a turn: heap', unit, samples: figures(used).heap, limit },
    { name: 'agent that waits, after a turn: memory', unit, samples: figures(used).rss, limit },
  ]
}

function runOnce(): { idle: Memory[]; used: Memory[] } {
  const script = join(import.meta.dirname, 'agents-once.ts')
  const run = spawnSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(run.stderr)
  return JSON.parse(run.stdout) as { idle: Memory[]; used: Memory[] }
}
