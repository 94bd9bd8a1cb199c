import '@cordage/core/compaction'
import { textMessage } from '@cordage/core/message'
import { openBench, spawnAt, type Bench } from './bench.ts'
import { exchange } from './history.ts'
import type { Row } from './row.ts'

const ROUNDS = 9
const MEASURES = 50

/** Microseconds of one look at the pressure, with something pending and a new exchange. */
export async function measureMeter(): Promise<Row[]> {
  await using bench = await openBench({})
  const limit = { of: 'median', at: 100 } as const
  const few = await measureAt(bench, 10)
  const many = await measureAt(bench, 2_000)
  return [
    { name: 'meter: measure at 10 messages', unit: 'us', samples: few },
    { name: 'meter: measure at 2000 messages', unit: 'us', samples: many, limit },
  ]
}

async function measureAt(bench: Bench, messages: number): Promise<number[]> {
  const { meter, models } = bench.harness.ctx
  const agent = await spawnAt(bench, messages, 'scripted/fix-a-bug')
  const { session } = agent
  const target = models.resolve('scripted/fix-a-bug')
  const pending = [textMessage('p', 'user', 'What is next?', { kind: 'user' })]
  const samples: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    let spentMs = 0
    for (let at = 0; at < MEASURES; at += 1) {
      await session.append(exchange(messages + round * MEASURES + at), { sync: false })
      // Made once for all readers, by whoever asks first.
      if (session.surface.length === 0) throw new Error('nothing to measure')
      const began = performance.now()
      meter.measure({ session, target, params: {}, pending })
      spentMs += performance.now() - began
    }
    samples.push((spentMs * 1000) / MEASURES)
  }
  await agent.close()
  // The first round adds all messages up.
  return samples.slice(1)
}
