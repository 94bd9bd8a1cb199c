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
import { compactionEnd, compactionStart, sessionTitle } from '@cordage/core/session'
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

  it('counts an image of known size as its route does, in whatever message it stands', async () => {
    await start([])
    const blob = { hash: 'h', bytes: 9, mediaType: 'image/png', width: 300, height: 500 }
    const image = { type: 'image', blob } as const
    const part = { type: 'tool-result', callId: 'c', name: 'look', isError: false } as const
    const pending = [
      { id: 'p', role: 'user', content: [image], source: user } as const,
      {
        id: 'q',
        role: 'tool',
        content: [{ ...part, content: [image] }],
        source: { kind: 'tool', callId: 'c' },
      } as const,
    ]
    const route = { ...target().route, imageTokens: ({ width = 0, height = 0 }) => width + height }
    const priced = { ...target(), route }
    expect(measure({ pending, target: priced }).projectedTokens).toBe(2 * (4 + 800))
    const { files } = made.root.meter.contextBreakdown(input({ pending, target: priced }))
    expect(files).toEqual([{ part: 'images', row: '', tokens: 1_600 }])
    const declared = { ...priced, info: { ...priced.info, imageTokens: 85 } }
    expect(measure({ pending, target: declared }).projectedTokens).toBe(2 * (4 + 85))
  })

  it('is not what was counted with other tools or another system prompt', async () => {
    const fails: Reply = async function* () {
      yield { type: 'text', text: '' }
      throw new Error('the line broke')
    }
    let text = 'Be kind.'
    const guide = definePlugin({
      name: 'guide',
      inject: ['prompt'],
      apply: (ctx) => ctx.prompt.section(ctx, { id: 'manners', render: () => text }),
    })
    await start([answer('Fine.', { inputTokens: 1_000, outputTokens: 50 }), fails], {
      rows: [{ plugin: guide }],
    })
    await turn('Hi')
    expect(measure().anchoredTokens).toBe(1_050)
    text = LONG
    await expect(turn('And now?')).rejects.toThrow('completed')
    expect(measure()).toMatchObject({ anchoredTokens: 0, projectedTokens: surfaceTokens() })
    expect(surfaceTokens()).toBeGreaterThan(estimateTokens(LONG))
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

describe('what was used so far', () => {
  it('has that of titles, of failed compactions, and of what plugins asked for', async () => {
    await start([answer('Fine.', { inputTokens: 100, outputTokens: 5 })])
    await turn('Hi')
    const usage = { inputTokens: 10, outputTokens: 1 }
    const source = 'context_compression' as const
    await made.session.append([
      sessionTitle({ title: 'Hi', by: 'model', spent: { usage, source: 'title' } }),
      compactionStart({ id: 'c' }),
      compactionEnd({
        id: 'c',
        error: { code: 'NO', message: 'No.' },
        spent: { usage: { ...usage, cacheReadTokens: 4 }, source },
      }),
      { type: 'judge/asked', v: 1, data: { spent: { usage, source: 'judge' } } },
      { type: 'judge/asked', v: 1, data: { spent: 'much' } },
    ])
    const used = { inputTokens: 130, outputTokens: 8, cacheReadTokens: 4 }
    expect(made.root.meter.cumulativeUsage(made.session)).toEqual(used)
    await made.agent.close()
    const again = await made.root.sessions.open(made.session.id)
    expect(made.root.meter.cumulativeUsage(again)).toEqual(used)
    await again.close()
  })
})

describe('files of a breakdown', () => {
  it('are what tools have read, what rows have put there, and images', async () => {
    const reader = (name: string) =>
      defineTool({
        name,
        description: 'Gives words',
        parameters: z.strictObject({}),
        effects: () => [],
        execute: async () => LONG,
      })
    const rules = definePlugin({
      name: 'context-instructions',
      inject: ['prompt'],
      apply: (ctx) => {
        const stability = 'per-session'
        ctx.prompt.context(ctx, { id: 'rules', stability, render: () => 'Be kind.' })
      },
    })
    const asked = call(
      { id: 'c', name: 'read', arguments: '{}' },
      { id: 'd', name: 'shout', arguments: '{}' },
    )
    await start([asked, answer('Fine.')], {
      tools: (add) => ['read', 'shout'].forEach((name) => add(reader(name))),
      rows: [{ plugin: rules }],
    })
    await turn('Read')
    const { messages, files } = made.root.meter.contextBreakdown(input())
    const tokens = 4 + estimateTokens(LONG)
    expect(files).toEqual([
      { part: 'results of read', row: 'test-tools', tokens },
      {
        part: 'snapshot rules',
        row: 'context-instructions',
        tokens: 4 + estimateTokens('Be kind.'),
        stability: 'per-session',
      },
    ])
    expect(messages.map(({ part }) => part)).toEqual(['results of shout', 'assistant', 'user'])
    const all = [...messages, ...files].reduce((sum, part) => sum + part.tokens, 0)
    expect(all).toBe(surfaceTokens())
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
    expect(parts.system).toMatchObject([{ part: 'manners', row: 'guide', stability: 'stable' }])
    expect(parts.messages).toEqual([
      { part: 'user', row: '', tokens: 4 + estimateTokens(LONG) },
      {
        part: 'snapshot weather',
        row: 'guide',
        tokens: 4 + estimateTokens('It rains.'),
        stability: 'volatile',
      },
      { part: 'assistant', row: '', tokens: 4 + estimateTokens('Fine.') },
    ])
    const { signal } = new AbortController()
    const { text } = (await made.root.commands.run('/context', made.agent, signal))!
    expect(text).toMatch(
      /Pressure of the next request to test\/model, as projected:\n {2}1,050 of 100,000/,
    )
    expect(text).toMatch(/1,050 as the provider counted, the rest estimated/)
    expect(text).toMatch(
      /all estimated:\n {2}system: \d+\n +\d+ {2}manners \(guide, stable\)\n {2}tools: 0/,
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
