// In a process of its own: a history of ten megabytes is compacted, and what that takes. It is made
// of results that can be cut, or of talk that no single call for a summary holds.
import type { Agent } from '@cordage/core/agent'
import { textMessage, textOf } from '@cordage/core/message'
import { assistantMessage, toolResult, userMessage, type NewFact } from '@cordage/core/session'
import type { ModelEvent, ModelRequest } from '@cordage/core/model'
import { snapshot } from '../../packages/context/compaction/test/stage.ts'
import { model } from './history.ts'
import { openBench, spawnAt } from './bench.ts'
import { startCpu, startOwnTime, watchStalls } from './own-time.ts'

const BYTES = 10 * 2 ** 20
const RESULT = 'export const value = compute(source, { depth: 3 }) // 构建完成\n'.repeat(300)
const WORDS = 'What was found there takes some room to say, 而且有人说了出来. '.repeat(80)
const talk = process.argv[2] === 'talk'

export interface CompactionFigures {
  readonly bytes: number
  readonly calls: number
  readonly ms: number
  readonly cpuMs: number
  readonly stallMs: number
  /** Held besides the history itself, at most. */
  readonly heldMb: number
  /** Of what the next request is made of. */
  readonly leftBytes: number
}

let calls = 0
async function* answer({ messages }: ModelRequest): AsyncIterable<ModelEvent> {
  calls += 1
  if (!textOf(messages.at(-1)?.message ?? { content: [] }).includes('current_plan')) {
    throw new Error('Somebody asked for something else than a summary.')
  }
  yield { type: 'text', text: snapshot() }
  yield { type: 'usage', usage: { inputTokens: 1_000, outputTokens: 100 } }
  yield { type: 'finish', reason: 'stop' }
}

/** A step with a call: a file of 20 KB is read, and something is said of it. */
function step(at: number): NewFact[] {
  const place = { turn: 1, step: at, attempt: 1 }
  const source = { kind: 'model', ...model } as const
  const callId = `c${at}`
  const call = { type: 'tool-call', id: callId, name: 'read', arguments: `{"path":"src/${at}.ts"}` }
  const text = { type: 'text', text: `What the next file says, ${at}.` }
  const result = { type: 'text' as const, text: `${at}\n${RESULT}` }
  const part = { type: 'tool-result' as const, callId, name: 'read', content: [result] }
  return [
    assistantMessage({
      ...place,
      message: { id: `a${at}`, role: 'assistant', content: [text, call], source } as never,
      finish: 'tool-calls',
    }),
    toolResult({
      turn: 1,
      step: at,
      callId,
      name: 'read',
      messageId: `t${at}`,
      part: { ...part, isError: false },
    }),
  ]
}

/** A question and its answer of five kilobytes each. */
function exchange(at: number): NewFact[] {
  const source = { kind: 'model', ...model } as const
  const say = (role: 'user' | 'assistant') =>
    textMessage(`${role}${at}`, role, `${at} ${WORDS}`, role === 'user' ? { kind: 'user' } : source)
  const place = { turn: 1, step: at, attempt: 1, finish: 'stop' }
  return [
    userMessage({ message: say('user') }),
    assistantMessage({ ...place, message: say('assistant') }),
  ]
}

const heldMb = () => {
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

const sizeOf = ({ session: { surface } }: Agent) =>
  Buffer.byteLength(JSON.stringify(surface.map(({ message }) => message.content)))

await using bench = await openBench({ stream: answer })
const agent = await spawnAt(bench, 0)
const { session } = agent
const prompt = textMessage('u', 'user', 'Read it all. Never touch src/7.ts.', { kind: 'user' })
await session.append([userMessage({ message: prompt })], { sync: false })
const each = talk ? 2 * Buffer.byteLength(WORDS) : Buffer.byteLength(RESULT)
for (let at = 1; at * each < BYTES; at += 1) {
  await session.append(talk ? exchange(at) : step(at), { sync: false })
}
const bytes = sizeOf(agent)
if (!globalThis.gc) throw new Error('Start this with --expose-gc.')
globalThis.gc()
const before = heldMb()
let most = before
const timer = setInterval(() => (most = Math.max(most, heldMb())), 1)
const [time, cpu, stall] = [startOwnTime(), startCpu(), watchStalls()]
const { ctx } = bench.harness
const target = ctx.models.resolve(agent.choice.model)
const report = await ctx.compaction.compact(agent, {
  trigger: 'overflow',
  target,
  signal: new AbortController().signal,
})
const figures = { ms: time(), cpuMs: cpu(), stallMs: stall() }
clearInterval(timer)
if (report.result.outcome !== 'compressed') throw new Error(JSON.stringify(report))
const left = sizeOf(agent)
console.log(JSON.stringify({ bytes, calls, ...figures, heldMb: most - before, leftBytes: left }))
await agent.close()
