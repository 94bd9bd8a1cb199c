import type { ModelEvent } from '@cordage/core/model'
import { hearDeltas, openBench, spawnAt } from './bench.ts'
import { startOwnTime, watchStalls } from './own-time.ts'
import type { Row } from './row.ts'

const DELTAS = 100_000
const ROUNDS = 10
/** Rounds that are not counted: code that runs for the first time is slower. */
const WARM_UP = 2

/**
 * A model whose deltas are all there at once, read into one subscriber and the live lane of a
 * session on the disk: so many are to take a second at most, in which the loop goes on turning.
 */
export async function measureDeltas(): Promise<Row[]> {
  await using bench = await openBench({ stream: sayMuch })
  const samples: number[] = []
  const stalls: number[] = []
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const agent = await spawnAt(bench, 0)
    await agent.send('Begin', { wake: false })
    const [time, stall] = [startOwnTime(), watchStalls()]
    const { deltas } = await hearDeltas(bench, agent)
    const [ms, longest] = [time(), stall()]
    if (deltas !== DELTAS) throw new Error(`${deltas} of ${DELTAS} deltas were heard`)
    await agent.close()
    if (round < 0) continue
    samples.push(ms)
    stalls.push(longest)
  }
  const unit = 'ms'
  return [
    { name: '100000 deltas', unit, samples, limit: { of: 'median', at: 1_000 } },
    { name: '100000 deltas: longest stall', unit, samples: stalls, limit: { of: 'max', at: 50 } },
  ]
}

async function* sayMuch(): AsyncIterable<ModelEvent> {
  for (let at = 0; at < DELTAS; at += 1) yield { type: 'text', text: ' word' }
  yield { type: 'finish', reason: 'stop' }
}
