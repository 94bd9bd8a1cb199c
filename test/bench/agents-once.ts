// In a process of its own: many agents that wait, and what each of them takes.
import type { Agent } from '@cordage/core/agent'
import { openBench, spawnAt, wake } from './bench.ts'

const AGENTS = 1_000
const SAMPLES = 10

async function* answer() {
  yield { type: 'text', text: 'Done.' } as const
  yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } } as const
  yield { type: 'finish', reason: 'stop' } as const
}

/** Kilobytes: what is held, and what the process has. */
interface Memory {
  readonly heap: number
  readonly rss: number
}

/** After what nobody holds any more is gone. */
function readMemory(): Memory {
  if (!globalThis.gc) throw new Error('Start this with --expose-gc.')
  for (let time = 0; time < 3; time += 1) globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: (heapUsed + external) / 1024, rss: rss / 1024 }
}

await using bench = await openBench({ stream: answer })
// Code that runs for the first time is compiled then.
for (let time = 0; time < 3; time += 1) {
  const agent = await spawnAt(bench, 0)
  await takeTurn(agent)
  await agent.close()
}

const agents: Agent[] = []
const idle: Memory[] = []
const begin = readMemory()
while (agents.length < AGENTS) {
  const before = readMemory()
  for (let at = 0; at < AGENTS / SAMPLES; at += 1) agents.push(await spawnAt(bench, 0))
  idle.push(each(before, readMemory(), AGENTS / SAMPLES))
}
for (const agent of agents) await takeTurn(agent)
console.log(JSON.stringify({ idle, used: [each(begin, readMemory(), AGENTS)] }))

async function takeTurn(agent: Agent): Promise<void> {
  await agent.send('Begin', { wake: false })
  await wake(agent)
}

/** What is more, for each of so many. */
function each(before: Memory, after: Memory, count: number): Memory {
  return { heap: (after.heap - before.heap) / count, rss: (after.rss - before.rss) / count }
}
