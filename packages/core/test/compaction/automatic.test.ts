import compactionRow, { type ContextCompressor, type Pressure } from '@cordage/core/compaction'
import { definePlugin, own } from '@cordage/core/kernel'
import { textMessage, textOf } from '@cordage/core/message'
import { modelError } from '@cordage/core/model'
import { requestAt } from '@cordage/core/session'
import { afterEach, describe, expect, it } from 'vitest'
import { bench, call, say, type Bench, type Reply } from '../loop/boot.ts'

let made: Bench
afterEach(() => made.close())

const LONG = 'the older part of this history is long '.repeat(20)

/** What the compressor and the meter do next. */
interface Script {
  compress: ContextCompressor['compress']
  measure: () => number
}

const script: Script = { compress: notYet, measure: () => 100 }

async function notYet() {
  return { outcome: 'skipped', reason: 'not_yet' } as const
}

/** Replaces all but the last message. */
const shorten: Script['compress'] = async ({ history }, { idGenerator }) => {
  const id = idGenerator()
  const source = { kind: 'plugin', row: 'compressor', form: 'summary' } as const
  const summary = textMessage(`summary-${id}`, 'user', 'In short: it went well.', source)
  history.messages = [summary, ...history.messages.slice(-1)]
  history.episodicMemories = [{ id, covers: { from: 0, to: 1 }, summary: 'short', pinned: [] }]
  return { outcome: 'compressed', episodeId: id }
}

const rows = [
  { plugin: compactionRow },
  {
    plugin: definePlugin({
      name: 'meter',
      provides: ['meter'],
      apply: (ctx) =>
        own(ctx, 'meter', {
          measure: (): Pressure => {
            const projectedTokens = script.measure()
            return { projectedTokens, anchoredTokens: 0, contextWindow: 1_000, outputTokens: 100 }
          },
          contextBreakdown: () => ({ system: [], tools: [], messages: [], files: [] }),
          cumulativeUsage: () => ({ inputTokens: 0, outputTokens: 0 }),
        }),
    }),
  },
  {
    plugin: definePlugin({
      name: 'compressor',
      inject: ['compaction', 'prompt'],
      apply(ctx) {
        const compress: Script['compress'] = (...args) => script.compress(...args)
        ctx.compaction.compressor(ctx, { compress })
        ctx.prompt.context(ctx, { id: 'place', render: () => 'Working directory: /project' })
        ctx.prompt.context(ctx, { id: 'day', render: ({ turn }) => `It is day ${turn}.` })
      },
    }),
  },
]

async function start(replies: Reply[]) {
  Object.assign(script, { compress: notYet, measure: () => 100 })
  made = await bench(replies, { rows })
}

async function turn(text: string) {
  await made.agent.send(text, { wake: false })
  return made.agent.wake()
}

const fails = (code: Parameters<typeof modelError>[0]): Reply =>
  // oxlint-disable-next-line require-yield
  async function* () {
    throw modelError(code, { model: 'test/model' })
  }
const asked = () => made.requests.at(-1)!.messages.map(({ message }) => textOf(message))
const choose = (model: string) => (made.agent.choice = { model, params: {} })

describe('a request that is made once more after an overflow', () => {
  it('has the snapshots of the surroundings that the summary shadows, once each', async () => {
    await start([say(LONG), say(LONG), fails('CONTEXT_WINDOW_EXCEEDED'), say('three')])
    await turn('one')
    await turn('two')
    script.compress = async (state, context) =>
      context.trigger === 'overflow' ? shorten(state, context) : notYet()
    expect(await turn('three')).toMatchObject({ reason: 'completed' })
    const repeated = ['It is day 3.', 'Working directory: /project']
    expect(asked()).toEqual(['In short: it went well.', 'three', ...repeated])
    expect((await requestAt(await made.facts(), 3, 1, 2))?.messages).toEqual(
      made.requests.at(-1)?.messages,
    )
    script.compress = notYet
    made.requests.length = 0
    await made.agent.send('four', { wake: false })
    await made.agent.wake().catch(() => {})
    expect(asked().filter((text) => text.startsWith('Working directory'))).toHaveLength(1)
    expect(asked().slice(-2)).toEqual(['It is day 4.', 'four'])
  })
})

describe('a switch of models', () => {
  const code = 'MODEL_SWITCH_COMPACTION_FAILED'
  const tooLarge = () => 5_000

  it('fails with its own code where the history has no room and the compaction failed', async () => {
    await start([say('one'), say('two, by the first one')])
    await turn('one')
    Object.assign(script, {
      measure: tooLarge,
      compress: async () => ({ outcome: 'failed', reason: 'summary_cut' }),
    })
    choose('test/other')
    expect(await turn('two')).toMatchObject({
      reason: 'error',
      error: { code, message: expect.stringMatching(/\d+ tokens .*test\/other \(summary_cut\)/) },
    })
    expect(made.requests).toHaveLength(1)
    // The words wait for a model that has room.
    expect(made.session.inbox.map(({ message }) => textOf(message))).toEqual(['two'])
    choose('test/model')
    expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
  })

  it('fails with it where the check itself fails', async () => {
    await start([say('one')])
    await turn('one')
    script.measure = () => {
      throw new TypeError('no meter')
    }
    choose('test/other')
    expect(await turn('two')).toMatchObject({ error: { code } })
    expect(made.logged.join()).toContain('no meter')
  })

  it('goes on where the compaction failed, but there is room', async () => {
    await start([say('one'), say('two')])
    await turn('one')
    script.compress = async () => ({ outcome: 'failed', reason: 'AUTH' })
    choose('test/other')
    expect(await turn('two')).toMatchObject({ reason: 'completed' })
  })

  it('is not refused for what is pending: that is no matter of the switch', async () => {
    await start([say('one'), say('two')])
    await turn('one')
    const text = 'a long paste '.repeat(2_000)
    script.measure = () => 7_000
    choose('test/other')
    expect(await turn(text)).toMatchObject({ reason: 'completed' })
  })

  const causes: [string, string, Reply][] = [
    ['a key that is refused (401)', 'AUTH', fails('AUTH')],
    ['a malformed stream', 'MALFORMED_RESPONSE', fails('MALFORMED_RESPONSE')],
    ['a model that the server does not know', 'UNKNOWN_MODEL', fails('UNKNOWN_MODEL')],
  ]
  it.each(causes)('keeps the code of %s', async (_, own, reply) => {
    await start([say('one'), reply])
    await turn('one')
    choose('test/other')
    expect(await turn('two')).toMatchObject({ error: { code: own } })
  })

  const prepared: [string, string, string, object][] = [
    ['a provider that there is not', 'MODEL_PROVIDER_UNKNOWN', 'nobody/other', {}],
    [
      'an effort that it does not take',
      'UNSUPPORTED_REASONING_EFFORT',
      'test/other',
      { effort: 'x' },
    ],
  ]
  it.each(prepared)('keeps the code of %s', async (_, own, model, params) => {
    await start([say('one')])
    await turn('one')
    made.agent.choice = { model, params }
    expect(await turn('two')).toMatchObject({ error: { code: own } })
  })
})

describe('a switch of models during a compaction', () => {
  const modelsOf = () => made.requests.map(({ model }) => model)

  it('by hand lands on the next turn, whose check is made once', async () => {
    await start([say(LONG), say(LONG), say('three')])
    await turn('one')
    await turn('two')
    const gate = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const triggers: string[] = []
    script.compress = async (state, context) => {
      triggers.push(context.trigger)
      if (context.trigger !== 'manual') return notYet()
      begun.resolve()
      await gate.promise
      return shorten(state, context)
    }
    const target = made.root.models.resolve('test/model')
    const { signal } = new AbortController()
    const running = made.root.compaction.compact(made.agent, { trigger: 'manual', target, signal })
    await begun.promise
    choose('test/other')
    const ended = turn('three')
    gate.resolve()
    expect((await running).result.outcome).toBe('compressed')
    expect(await ended).toMatchObject({ reason: 'completed' })
    expect(triggers).toEqual(['manual', 'model-switch'])
    expect(modelsOf()).toEqual(['model', 'model', 'other'])
    expect(asked().filter((text) => text === 'three')).toHaveLength(1)
  })

  it('within a step lands on the next step, and neither step is said twice', async () => {
    await start([
      say(LONG),
      call({ id: 'a', name: 'nothing', arguments: '{}' }),
      say('done by the other one'),
    ])
    await turn('one')
    const triggers: string[] = []
    script.compress = async (state, context) => {
      triggers.push(context.trigger)
      if (triggers.length > 1) return notYet()
      choose('test/other')
      return shorten(state, context)
    }
    expect(await turn('two')).toMatchObject({ reason: 'completed' })
    expect(triggers).toEqual(['pressure', 'model-switch'])
    expect(modelsOf()).toEqual(['model', 'model', 'other'])
    expect(asked().filter((text) => text === 'two')).toHaveLength(1)
  })
})
