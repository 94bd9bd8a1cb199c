// In a process of its own: a tool that gives 200 MB, and what memory that and a page of it take.
import { readFileSync, writeFileSync } from 'node:fs'
import '@cordage/core/tool'
import type { ModelEvent } from '@cordage/core/model'
import { z } from 'zod'
import { openBench, spawnAt, wake } from './bench.ts'

const ROW = 'A line of output, of an ordinary length, which is kept whole.\n'
const text = Buffer.alloc(200 * 2 ** 20, ROW).toString()

const calls = [
  () => ({ name: 'flood', arguments: '{}' }),
  () => ({ name: 'read_spill', arguments: JSON.stringify({ handle, offset: 100 * 2 ** 20 }) }),
]
let handle = ''
let asked = 0

await using bench = await openBench({ stream: answer })
const { ctx } = bench.harness
ctx.tools.register(ctx, {
  name: 'flood',
  description: 'Gives much.',
  parameters: z.strictObject({}),
  effects: () => [],
  execute: async () => text,
})
const agent = await spawnAt(bench, 0)
const kept = await peakOf('Begin')
handle = /handle="(\w+)"/.exec(JSON.stringify(agent.session.surface).replaceAll('\\"', '"'))![1]!
const page = await peakOf('Read on')
console.log(JSON.stringify({ kept, page }))
await agent.close()

async function* answer(): AsyncIterable<ModelEvent> {
  const one = asked % 2 === 0 ? calls[asked / 2]?.() : undefined
  if (one) yield { type: 'tool-call', index: 0, id: `call_${asked}`, ...one }
  else yield { type: 'text', text: 'Done.' }
  yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
  yield { type: 'finish', reason: one ? 'tool-calls' : 'stop' }
  asked += 1
}

/** Megabytes that the process had at most during a turn, more than before it. */
async function peakOf(task: string): Promise<number> {
  if (!globalThis.gc) throw new Error('Start this with --expose-gc.')
  globalThis.gc()
  const before = process.memoryUsage().rss / 2 ** 20
  // From here on the system notes the most anew.
  writeFileSync('/proc/self/clear_refs', '5')
  await agent.send(task, { wake: false })
  await wake(agent)
  const most = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return Number(most) / 1024 - before
}
