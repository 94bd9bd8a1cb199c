import commands from '@cordage/core/command'
import compactionRow, { type ContextCompressor } from '@cordage/core/compaction'
import { definePlugin } from '@cordage/core/kernel'
import { textMessage, type Usage } from '@cordage/core/message'
import {
  estimateMessage,
  estimateTokens,
  IMAGE_TOKENS,
  type ModelEvent,
  type ResolvedModel,
} from '@cordage/core/model'
import { defineTool } from '@cordage/core/tool'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  bench,
  call,
  type Bench,
  type BenchOptions,
  type Reply,
} from '../../../core/test/loop/boot.ts'
import meter from '../src/index.ts'

let made: Bench
afterEach(() => made.close())

const LONG = 'What stands here is counted by nobody but the provider. '.repeat(40)
const user = { kind: 'user' } as const

const answer = (text: string, usage?: Usage): ModelEvent[] => [
  { type: 'text', text },
  ...(usage ? [{ type: 'usage', usage } as const] : []),
  { type: 'finish', reason: 'stop' },
]

async function start(replies: Reply[], options: BenchOptions = {}): Promise<void> {
  const rows = [{ plugin: commands }, { plugin: meter }, ...(options.rows ?? [])]
  made = await bench(replies, { ...options, rows })
}

async function turn(text: string): Promise<void> {
  await made.agent.send(text, { wake: false })
  expect((await made.agent.wake())?.reason).toBe('completed')
}

function target(name = made.agent.choice.model, info: Partial<ResolvedModel['info']> = {}) {
  const resolved = made.root.models.resolve(name)
  return { ...resolved, info: { ...resolved.info, ...info } }
}

const input = (more: Partial<Parameters<Bench['root']['meter']['measure']>[0]> = {}) => {
  return { session: made.session, target: target(), params: {}, ...more }
}
const measure = (more?: Parameters<typeof input>[0]) => made.root.meter.measure(input(more))
const surfaceTokens = () => {
  return made.session.surface.reduce((sum, { message }) => sum + estimateMessage(message), 0)
}

describe('the pressure of the next request', () => {
  it('is what the provider counted last, and an estimate of what is pending', async () => {
    await start([answer('Fine.', { inputTokens: 1_000, outputTokens: 50 })])
    await turn(LONG)
    const pending = [textMessage('m', 'user', LONG, user)]
    expect(measure()).toEqual({
      projectedTokens: 1_050,
      anchoredTokens: 1_050,
      contextWindow: 100_000,
      outputTokens: 1_000,
    })
    expect(measure({ pending }).projectedTokens).toBe(1_054 + estimateTokens(LONG))
  })

  it('estimates the results that came after the last usage', async () => {
    const shout = defineTool({
      name: 'shout',
      description: 'Shouts',
      parameters: z.strictObject({}),
      effects: () => [],
      execute: async () => LONG,
    })
    const asked = call({ id: 'c', name: 'shout', arguments: '{}' })
    const seen: number[] = []
    await start(
      [
        [
          ...asked.slice(0, -1),
          { type: 'usage', usage: { inputTokens: 900, outputTokens: 9 } },
          asked.at(-1)!,
        ],
        async function* () {
          seen.push(measure().projectedTokens)
          yield* answer('Heard.')
        },
      ],
      { tools: (add) => add(shout) },
    )
    await turn('Shout')
    const [result] = made.session.surface.filter(({ message }) => message.role === 'tool')
    expect(seen).toEqual([909 + estimateMessage(result!.message)])
  })

  it('is an estimate of all where no provider has counted', async () => {
    await start([answer('Fine.')])
    const pending = [textMessage('m', 'user', LONG, user)]
    expect(measure({ pending })).toMatchObject({
      anchoredTokens: 0,
      projectedTokens: 4 + estimateTokens(LONG),
    })
    await turn(LONG)
    expect(measure()).toMatchObject({ anchoredTokens: 0, projectedTokens: surfaceTokens() })
  })

  it('is an estimate of all for another model than the one that counted', async () => {
    await start([answer('Fine.', { inputTokens: 1_000, outputTokens: 50 })])
    await turn(LONG)
    const other = measure({ target: target('test/other') })
    expect(other).toMatchObject({ anchoredTokens: 0, projectedTokens: surfaceTokens() })
    expect(measure().anchoredTokens).toBe(1_050)
  })

  it('does not believe a proxy that counts next to nothing', async () => {
    await start([answer('Fine.', { inputTokens: 1, outputTokens: 1 })])
    await turn(LONG)
    expect(measure()).toMatchObject({ anchoredTokens: 0, projectedTokens: surfaceTokens() })
  })

  it('counts an image as the route prices it', async () => {
    await start([])
    const blob = { hash: 'h', bytes: 5_000_000, mediaType: 'image/png' }
    const picture = {
      id: 'p',
      role: 'user',
      content: [{ type: 'image', blob }],
      source: user,
    } as const
    const pending = [picture]
    expect(measure({ pending }).projectedTokens).toBe(4 + IMAGE_TOKENS)
    const cheap = target('test/m', { imageTokens: 85 })
    expect(measure({ pending, target: cheap }).projectedTokens).toBe(4 + 85)
  })

  it('leaves room for no more than the model may answer, and for less where it is asked to', async () => {
    await start([])
    expect(measure({ params: { maxTokens: 5_000 } }).outputTokens).toBe(1_000)
    expect(measure({ params: { maxTokens: 50 } }).outputTokens).toBe(50)
  })
})

/** Replaces all but the last answer by few words. */
const shorten: ContextCompressor = {
  compress: async ({ history }, { idGenerator, onUsage, trigger }) => {
    if (trigger !== 'manual') return { outcome: 'skipped' }
    const id = idGenerator()
    const source = { kind: 'plugin', row: 'compressor', form: 'summary' } as const
    const last = history.messages.slice(-1)
    history.messages = [textMessage(`s-${id}`, 'user', 'In short.', source), ...last]
    history.episodicMemories = [{ id, covers: { from: 0, to: 1 }, summary: 'short', pinned: [] }]
    onUsage({ inputTokens: 700, outputTokens: 30 })
    return { outcome: 'compressed', episodeId: id }
  },
}
const compressorRow = definePlugin({
  name: 'compressor',
  inject: ['compaction'],
  apply: (ctx) => ctx.compaction.compressor(ctx, shorten),
})
const compact = () => {
  const { signal } = new AbortController()
  return made.root.compaction.compact(made.agent, { trigger: 'manual', target: target(), signal })
}

describe('after a compaction', () => {
  it('all is estimated until a provider counts again', async () => {
    const usage = { inputTokens: 1_000, outputTokens: 50 }
    const less = { inputTokens: 40, outputTokens: 4 }
    await start([answer('Fine.', usage), answer('Fine.', usage), answer('Again.', less)], {
      rows: [{ plugin: compactionRow }, { plugin: compressorRow }],
    })
    await turn(LONG)
    await turn(LONG)
    const { before, after } = await compact()
    expect(before?.anchoredTokens).toBe(1_050)
    expect(after).toMatchObject({ anchoredTokens: 0, projectedTokens: surfaceTokens() })
    expect(surfaceTokens()).toBeLessThan(30)
    await turn('And now?')
    expect(measure()).toMatchObject({ anchoredTokens: 44, projectedTokens: 44 })
  })

  it('what was used so far has its usage, that of failed attempts and of all answers', async () => {
    const one = { inputTokens: 1_000, outputTokens: 50, cacheReadTokens: 600 }
    const broken: Reply = async function* () {
      yield* answer('Half', { inputTokens: 300, outputTokens: 3 }).slice(0, 2)
      throw new Error('the line broke')
    }
    await start([answer('Fine.', one), broken, answer('Again.', one)], {
      rows: [{ plugin: compactionRow }, { plugin: compressorRow }],
    })
    expect(made.root.meter.cumulativeUsage(made.session)).toEqual({
      inputTokens: 0,
      outputTokens: 0,
    })
    await turn(LONG)
    await expect(turn(LONG)).rejects.toThrow('completed')
    await turn(LONG)
    await compact()
    const used = { inputTokens: 3_000, outputTokens: 133, cacheReadTokens: 1_200 }
    expect(made.root.meter.cumulativeUsage(made.session)).toEqual(used)
    await made.agent.close()
    const again = await made.root.sessions.open(made.session.id)
    expect(made.root.meter.cumulativeUsage(again)).toEqual(used)
    await again.close()
  })
})

describe('/context', () => {
  it('shows the three figures apart, with the rows of what is in the window', async () => {
    const guide = definePlugin({
      name: 'guide',
      inject: ['prompt'],
      apply: (ctx) => {
        ctx.prompt.section(ctx, { id: 'manners', render: () => 'Be kind.' })
        ctx.prompt.context(ctx, { id: 'weather', render: () => 'It rains.' })
      },
    })
    await start([answer('Fine.', { inputTokens: 1_000, outputTokens: 50 })], {
      rows: [{ plugin: guide }],
    })
    await turn(LONG)
    const parts = made.root.meter.contextBreakdown(input())
    expect(parts.system).toMatchObject([{ part: 'manners', row: 'guide' }])
    expect(parts.messages).toEqual([
      { part: 'user', row: '', tokens: 4 + estimateTokens(LONG) },
      { part: 'snapshot', row: 'guide', tokens: 4 + estimateTokens('It rains.') },
      { part: 'assistant', row: '', tokens: 4 + estimateTokens('Fine.') },
    ])
    const { signal } = new AbortController()
    const { text } = (await made.root.commands.run('/context', made.agent, signal))!
    expect(text).toMatch(
      /Pressure of the next request to test\/model, as projected:\n {2}1,050 of 100,000/,
    )
    expect(text).toMatch(/1,050 as the provider counted, the rest estimated/)
    expect(text).toMatch(
      /all estimated:\n {2}system: \d+\n +\d+ {2}manners \(guide\)\n {2}tools: 0/,
    )
    expect(text).toMatch(/so far:\n {2}1,000 tokens of input; 50 of output$/)
  })

  it('is gone, and so is the meter, when the row is', async () => {
    await start([])
    expect(made.root.get('meter')).toBeDefined()
    await made.close()
    expect(made.root.get('meter')).toBeUndefined()
    await start([])
  })
})
