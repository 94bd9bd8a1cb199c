import { definePlugin, mount } from '@cordage/core/kernel'
import { preStep } from '@cordage/core/loop'
import { modelError, type ModelEvent } from '@cordage/core/model'
import { sessionTitle } from '@cordage/core/session'
import type { Tool } from '@cordage/core/tool'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  bench,
  call,
  say,
  type Bench,
  type BenchOptions,
  type Reply,
} from '../../../core/test/loop/boot.ts'
import { delegate, openFamily } from '../../../coordination/subagent/test/family.ts'
import retry from '../../retry/src/index.ts'
import telemetry from '../src/index.ts'
import {
  startReceiver,
  type ReceivedSpan,
  type Receiver,
} from '../../../../test/fixture/otlp-receiver.ts'

const open: AsyncDisposable[] = []
const patient = { timeout: 15_000 }
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]()
})

const secret = '密钥-sk-secret-9f8e7d'

async function start(replies: Reply[], options: BenchOptions = {}) {
  const receiver = await startReceiver()
  open.push(receiver)
  const config = { endpoint: receiver.url }
  const rows = [...(options.rows ?? []), { plugin: telemetry, config }]
  const made = await bench(replies, { ...options, tools: addTools, rows })
  const ask = async (text = `do it ${secret}`) => {
    await made.agent.send(text, { wake: false })
    return made.agent.wake()
  }
  return { ...made, ask, receiver }
}

/** Ends the process's part, so that all has been sent, and gives what came. */
async function ended({ close, receiver }: Bench & { receiver: Receiver }) {
  await close()
  const { spans } = receiver
  const ids = new Set(spans.map(({ id }) => id))
  expect(ids.size).toBe(spans.length)
  for (const { start, end, parent } of spans) {
    expect(end).toBeGreaterThanOrEqual(start)
    expect(parent === '' || ids.has(parent)).toBe(true)
  }
  return spans
}

/** Names below each other, in the order in which they began. */
function tree(spans: readonly ReceivedSpan[], parent = '', depth = 0): string[] {
  return spans
    .filter((span) => span.parent === parent)
    .toSorted((a, b) => Number(a.start - b.start) || orderOf(a) - orderOf(b))
    .flatMap((span) => {
      const error = span.attributes['error.type']
      const line = `${'  '.repeat(depth)}${span.name}${error === undefined ? '' : ` ! ${error}`}`
      return [line, ...tree(spans, span.id, depth + 1)]
    })
}

function orderOf({ name, attributes }: ReceivedSpan): number {
  return name.startsWith('chat') ? Number(attributes['cordage.attempt']) : 100
}

function addTools(add: (tool: Tool<never, never>) => void): void {
  const common = { parameters: z.strictObject({ text: z.string() }), effects: () => [] }
  const make = (name: string, execute: Tool<{ text: string }, string>['execute']) => {
    const render = (value: string) => value
    const tool = { ...common, name, description: name, execute, render }
    add(tool as unknown as Tool<never, never>)
  }
  make('echo', async ({ text }) => `${text} ${secret}`)
  make('fail', async () => {
    throw new Error(`no ${secret}`)
  })
  // It ignores its signal.
  make('hang', () => new Promise(() => {}))
}

const calls = (...named: string[]) =>
  call(...named.map((name, i) => ({ id: `c${i}`, name, arguments: `{"text":"${secret}"}` })))

const counted: ModelEvent[] = [
  { type: 'text', text: `done ${secret}` },
  {
    type: 'usage',
    usage: {
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 60,
      cacheWriteTokens: 8,
      reasoningTokens: 5,
    },
  },
  { type: 'finish', reason: 'stop' },
]

const failing = (code: Parameters<typeof modelError>[0]): Reply =>
  async function* () {
    throw modelError(code, { model: 'test/model' })
  }

describe('traces', () => {
  it('have a turn, its steps, their attempts and their calls, by the names of the conventions', async () => {
    const run = await start([calls('echo', 'made_up'), counted], {
      choice: { params: { temperature: 0.5, maxTokens: 900 } },
    })
    await run.ask()
    const spans = await ended(run)
    expect(tree(spans)).toEqual([
      'invoke_agent',
      '  step',
      '    chat model',
      '    execute_tool echo',
      '    execute_tool unknown ! UNKNOWN_TOOL',
      '  step',
      '    chat model',
    ])
    const [turn, chat, tool] = ['invoke_agent', 'chat', 'execute_tool echo'].map((name) => {
      return spans.findLast((span) => span.name.startsWith(name))
    })
    const conversation = { 'gen_ai.conversation.id': run.session.id }
    const usage = {
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_creation.input_tokens': 8,
      'gen_ai.usage.reasoning.output_tokens': 5,
    }
    const model = { 'gen_ai.provider.name': 'test', 'gen_ai.request.model': 'model' }
    expect(turn?.attributes).toEqual({
      ...conversation,
      ...model,
      ...usage,
      'gen_ai.operation.name': 'invoke_agent',
      'cordage.turn': 1,
      'cordage.turn.reason': 'completed',
    })
    expect(chat).toMatchObject({ kind: 3, failed: false })
    expect(chat?.attributes).toEqual({
      ...conversation,
      ...model,
      ...usage,
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 900,
      'gen_ai.response.model': 'model',
      'gen_ai.response.finish_reasons': ['stop'],
      'cordage.turn': 1,
      'cordage.step': 2,
      'cordage.attempt': 1,
    })
    expect(tool?.attributes).toEqual({
      ...conversation,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'c0',
    })
  })

  it('have the times of the facts', async () => {
    const run = await start([say('done')])
    await run.ask()
    const facts = await run.facts()
    const timeOf = (type: string) => facts.find((fact) => fact.type === type)?.time
    const spans = await ended(run)
    const turn = spans.find(({ name }) => name.startsWith('invoke_agent'))
    const milliseconds = (nanoseconds = 0n) => Number(nanoseconds / 1_000_000n)
    expect(milliseconds(turn?.start)).toBe(timeOf('turn/start'))
    expect(milliseconds(turn?.end)).toBe(timeOf('turn/end'))
  })

  it('have each attempt of a step, with the code of its failure', async () => {
    const rows = [{ plugin: retry, config: { initialDelayMs: 1, maxDelayMs: 1 } }]
    const run = await start([failing('SERVER'), failing('RATE_LIMIT'), say('done')], { rows })
    await run.ask()
    const spans = await ended(run)
    expect(tree(spans)).toEqual([
      'invoke_agent',
      '  step',
      '    chat model ! SERVER',
      '    chat model ! RATE_LIMIT',
      '    chat model',
    ])
    const points = run.receiver.metrics.get('gen_ai.client.operation.duration') ?? []
    const errors = points.map(({ attributes, count }) => [attributes['error.type'], count])
    expect(errors).toEqual([
      ['SERVER', 1],
      ['RATE_LIMIT', 1],
      [undefined, 1],
    ])
  })

  it('end once where a turn is cancelled in the middle of an answer', async () => {
    const run = await start([
      async function* (_, signal) {
        yield { type: 'text', text: `half ${secret}` }
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        throw signal.reason
      },
    ])
    const over = run.ask()
    await expect.poll(() => run.requests.length, patient).toBe(1)
    await run.agent.cancel()
    await over
    expect(tree(await ended(run))).toEqual([
      'invoke_agent ! ABORTED',
      '  step',
      expect.stringMatching(/^ {4}chat model ! (CANCELLED|ABORTED)$/),
    ])
  })

  it('end once where a tool is left behind', async () => {
    const run = await start([calls('hang', 'echo')])
    const over = run.ask()
    await expect.poll(() => run.types(), patient).toContain('tool/call')
    await run.agent.cancel()
    await over
    expect(tree(await ended(run))).toEqual([
      'invoke_agent ! ABORTED',
      '  step',
      '    chat model',
      '    execute_tool hang ! TOOL_OUTCOME_UNKNOWN',
    ])
  })

  it('end where a turn throws, between steps and within one', async () => {
    const thrower = definePlugin({
      name: 'thrower',
      apply: (ctx) => {
        preStep.use(ctx, (input, next) => {
          if (input.step === 2) throw new Error(`bad ${secret}`)
          return next()
        })
      },
    })
    const replies = [calls('fail'), failing('INVALID_REQUEST')]
    const run = await start(replies, { rows: [{ plugin: thrower }] })
    await run.ask()
    await run.ask()
    expect(tree(await ended(run))).toEqual([
      expect.stringMatching(/^invoke_agent ! \w+$/),
      '  step',
      '    chat model',
      '    execute_tool fail ! TOOL_FAILED',
      'invoke_agent ! INVALID_REQUEST',
      '  step',
      '    chat model ! INVALID_REQUEST',
    ])
  })

  it('hold nothing that anybody wrote', async () => {
    const run = await start([calls('echo', 'fail', secret), counted, failing('SERVER')])
    await run.ask()
    await run.ask()
    const spans = await ended(run)
    expect(spans).toHaveLength(11)
    expect(spans.every(({ message }) => message === '')).toBe(true)
    const all = run.receiver.requests.map(({ body }) => body.toString('utf8')).join('\n')
    expect(all).toContain('gen_ai.client.token.usage')
    for (const word of [secret, 'sk-secret', 'do it', '/project', '/nowhere']) {
      expect(all).not.toContain(word)
    }
  })

  it('end where the row is taken away in the middle of a turn, and say so', async () => {
    const receiver = await startReceiver()
    open.push(receiver)
    let answer = () => {}
    const made = await bench([
      async function* () {
        await new Promise<void>((resolve) => (answer = resolve))
        yield* say('done')
      },
      async function* () {
        await new Promise<void>((resolve) => (answer = resolve))
        yield* say('done')
      },
    ])
    const config = { endpoint: receiver.url }
    const row = mount(made.root, { id: 'late', plugin: telemetry, config, timeoutMs: 5_000 })
    expect(await row.settled()).toMatchObject({ state: 'active' })
    const begin = async (count: number) => {
      await made.agent.send('go', { wake: false })
      const over = made.agent.wake()
      await expect.poll(() => made.requests.length, patient).toBe(count)
      return async () => {
        answer()
        await over
      }
    }
    // An agent that was there before is followed too.
    const finish = await begin(1)
    await row.dispose()
    await finish()
    await (
      await begin(2)
    )()
    await made.close()
    expect(tree(receiver.spans)).toEqual(['invoke_agent', '  step', expect.stringMatching('chat')])
    const ends = receiver.spans.map(({ attributes }) => attributes['cordage.unfinished'])
    expect(ends).toEqual([true, true, true])
  })
})

describe('the turn of a child', () => {
  it('is below the call that it works on, in the same trace', async () => {
    const receiver = await startReceiver()
    open.push(receiver)
    const family = await openFamily(
      ({ source }) => {
        if (source.kind === 'user') return delegate('subagent', 'one', 'two')
        return source.kind === 'plugin' ? say('a report') : say('all done')
      },
      { rows: [{ plugin: telemetry, config: { endpoint: receiver.url } }] },
    )
    expect(await family.ask('go')).toBe('all done')
    await family[Symbol.asyncDispose]()
    const { spans } = receiver
    const child = ['      invoke_agent', '        step', '          chat model']
    expect(tree(spans)).toEqual([
      'invoke_agent',
      '  step',
      '    chat model',
      '    execute_tool subagent',
      ...child,
      '    execute_tool subagent',
      ...child,
      '  step',
      '    chat model',
    ])
    expect(new Set(spans.map(({ trace }) => trace)).size).toBe(1)
    const sessions = spans.map(({ attributes }) => attributes['gen_ai.conversation.id'])
    expect(new Set(sessions).size).toBe(3)
  })
})

describe('metrics', () => {
  it('count tokens and durations in the boundaries of the conventions', async () => {
    const run = await start([calls('echo'), counted])
    await run.ask()
    await ended(run)
    const { metrics } = run.receiver
    const tokens = metrics.get('gen_ai.client.token.usage') ?? []
    const model = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'test',
      'gen_ai.request.model': 'model',
      'gen_ai.response.model': 'model',
    }
    // The first answer came without a count: what is estimated is not reported.
    expect(tokens.map(({ attributes, sum, count }) => ({ attributes, sum, count }))).toEqual([
      { attributes: { ...model, 'gen_ai.token.type': 'input' }, sum: 100, count: 1 },
      { attributes: { ...model, 'gen_ai.token.type': 'output' }, sum: 20, count: 1 },
    ])
    expect(tokens[0]?.bounds).toEqual([
      1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
    ])
    const durations = metrics.get('gen_ai.client.operation.duration') ?? []
    expect(durations.map(({ attributes, count }) => [attributes, count])).toEqual([[model, 2]])
    expect(durations[0]?.bounds).toEqual([
      0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    ])
    const counts = ['turn', 'step', 'tool'].map((name) => {
      const points = metrics.get(`cordage.${name}.duration`) ?? []
      return [name, points.map(({ count }) => count)]
    })
    expect(counts).toEqual([
      ['turn', [1]],
      ['step', [2]],
      ['tool', [1]],
    ])
  })

  it('count what other calls of models took, by what they were for', async () => {
    const run = await start([])
    const usage = { inputTokens: 300, outputTokens: 7 }
    const spent = { usage, provider: 'test', model: 'small', source: 'title' }
    await run.session.append([
      sessionTitle({ title: secret, by: 'model', spent }),
      { type: 'they/asked', v: 1, data: { spent: 'much' } },
      { type: 'they/asked', v: 1, data: null },
    ])
    expect(await ended(run)).toEqual([])
    const tokens = run.receiver.metrics.get('gen_ai.client.token.usage') ?? []
    const by = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'test',
      'gen_ai.request.model': 'small',
      'cordage.source': 'title',
    }
    expect(tokens.map(({ attributes, sum }) => [attributes, sum])).toEqual([
      [{ ...by, 'gen_ai.token.type': 'input' }, 300],
      [{ ...by, 'gen_ai.token.type': 'output' }, 7],
    ])
    expect(run.logged).toEqual([])
  })
})
