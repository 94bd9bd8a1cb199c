// In a process of its own: a command that writes all the time, and what memory is held meanwhile.
import type { ModelEvent } from '@cordage/core/model'
import { openBench, spawnAt, wake } from './bench.ts'

/** Ten minutes of a megabyte a second. */
const BYTES = 600 * 1024 * 1024
const SAMPLE_MS = 300

const background = process.argv[2] === 'background'
let asked = false

async function* answer(): AsyncIterable<ModelEvent> {
  if (asked) yield { type: 'text', text: 'Done.' }
  else yield { type: 'tool-call', index: 0, id: 'call', name: 'bash', arguments: flood() }
  yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
  yield { type: 'finish', reason: asked ? 'stop' : 'tool-calls' }
  asked = true
}

function flood(): string {
  const command = `yes 'A line of output, of an ordinary length, 构建完成.' | head -c ${BYTES}`
  const how = background ? { run_in_background: true } : { timeout_ms: 600_000 }
  return JSON.stringify({ command, ...how })
}

const samples = { heap: [] as number[], rss: [] as number[] }

/** Megabytes, after what nobody holds any more is gone. */
function sample(): void {
  if (!globalThis.gc) throw new Error('Start this with --expose-gc.')
  globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  samples.heap.push((heapUsed + external) / 2 ** 20)
  samples.rss.push(rss / 2 ** 20)
}

await using bench = await openBench({ stream: answer })
const agent = await spawnAt(bench, 0)
await agent.send('Begin', { wake: false })
sample()
const timer = setInterval(sample, SAMPLE_MS)
await wake(agent)
const bytes = background ? await endJob() : await readResult()
clearInterval(timer)
if (bytes !== BYTES) throw new Error(`${bytes} of ${BYTES} bytes were read`)
console.log(JSON.stringify(samples))

async function endJob(): Promise<unknown> {
  const [job] = bench.harness.ctx.get('jobs')?.list(agent.scope) ?? []
  await job?.ended
  return job?.blob?.bytes
}

async function readResult(): Promise<unknown> {
  for await (const { type, data } of agent.session.read()) {
    if (type === 'tool/result')
      return (data as { value?: { blob?: { bytes?: number } } }).value?.blob?.bytes
  }
  return undefined
}
