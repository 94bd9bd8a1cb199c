import { definePlugin } from '@cordage/core/kernel'
import { compactionEnd } from '@cordage/core/session'
import { afterEach, describe, expect, it } from 'vitest'
import { say, type BenchOptions, type Reply } from '../../../core/test/loop/boot.ts'
import { failing, LONG, snapshot, stage, type Stage } from './stage.ts'

let made: Stage
afterEach(() => made.close())

const window = (tokens: number): BenchOptions => ({ choice: { model: `window/${tokens}` } })

/** A system prompt of about `tokens` tokens. */
const system = (tokens: number) => ({
  plugin: definePlugin({
    name: 'long-winded',
    inject: ['prompt'],
    apply: (ctx) => {
      ctx.prompt.section(ctx, { id: 'words', render: () => 'word '.repeat(tokens) })
    },
  }),
})

describe('by the next request, form window', () => {
  it('acts before the step that would reach T, and not before', async () => {
    const replies: Reply[] = Array.from({ length: 6 }, () => say(LONG))
    made = await stage([...replies, say(snapshot('in short')), say('seven')], {}, window(8_000))
    const texts = ['one', 'two', 'three', 'four', 'five', 'six']
    for (const text of texts) await made.turn(text)
    expect(await made.ends()).toEqual([])
    // T = min(8,000 * 0.8, 8,000 - 500 - 2,048) = 5,452 tokens, the pending input included.
    expect(await made.turn('Now a long one. '.repeat(400))).toMatchObject({ reason: 'completed' })
    expect(await made.ends()).toEqual(['ok'])
    expect(made.texts()[0]).toContain('in short')
    expect(made.texts().at(-1)).toBe('seven')
    expect(made.requests).toHaveLength(8)
  })

  it('asks no second time until an answer has come', async () => {
    made = await stage(
      [say(LONG.repeat(3)), say(LONG.repeat(3)), say(snapshot()), failing('AUTH'), say('three')],
      {},
      window(8_000),
    )
    await made.turn('one')
    await made.turn('two')
    expect(await made.turn('three '.repeat(2_500))).toMatchObject({ error: { code: 'AUTH' } })
    expect(await made.turn('four')).toMatchObject({ reason: 'completed' })
    expect(made.session.state(compactionEnd).ended).toEqual(['e1'])
  })

  it('says once for each model that its window is too small for the headroom', async () => {
    made = await stage([say('a'), say('b'), say('c')], {}, window(8_000))
    await made.turn('one')
    await made.turn('two')
    made.agent.choice = { model: 'window/9000', params: {} }
    await made.turn('three')
    const about = made.warned.filter((text) => text.includes('too small for the headroom'))
    expect(about.map((text) => /window\/\d+/.exec(text)?.[0])).toEqual([
      'window/8000',
      'window/9000',
    ])
    expect(about[0]).toContain('headroomTokens=2048')
  })
})

describe('irreducible_floor', () => {
  const heavy = { ...window(8_000), rows: [system(5_600)] }
  const replies = (count: number): Reply[] => Array.from({ length: count }, (_, at) => say(`${at}`))
  const compact = async () => {
    const { root, agent } = made
    const target = root.models.resolve(agent.choice.model)
    const { signal } = new AbortController()
    return (await root.compaction.compact(agent, { trigger: 'pressure', target, signal })).result
  }

  it('names who takes how much, costs no call and no fact, and is warned of once', async () => {
    made = await stage(replies(6), {}, heavy)
    for (const text of ['one', 'two', 'three', 'four', 'five']) {
      expect(await made.turn(text)).toMatchObject({ reason: 'completed' })
    }
    expect(made.requests).toHaveLength(5)
    expect(await made.ends()).toEqual([])
    const result = await compact()
    expect(result).toMatchObject({ outcome: 'skipped', reason: 'irreducible_floor' })
    const { contributors } = result.details as { contributors: { part: string; tokens: number }[] }
    expect(contributors[0]?.part).toBe('system')
    expect(contributors[0]?.tokens).toBeGreaterThan(5_452)
    const about = made.warned.filter((text) => text.includes('no compaction makes smaller'))
    expect(about).toHaveLength(1)
    expect(about[0]).toContain('system')
  })

  it('is not looked for again until system prompt, tools or window have changed', async () => {
    made = await stage(replies(9), {}, heavy)
    for (const text of ['one', 'two', 'three']) await made.turn(text)
    const first = await compact()
    expect(await compact()).toBe(first)
    await made.turn('four')
    expect(await compact()).toBe(first)
    made.agent.choice = { model: 'window/8001', params: {} }
    await made.turn('five')
    const other = await compact()
    expect(other).toMatchObject({ reason: 'irreducible_floor' })
    expect(other).not.toBe(first)
  })

  it('ends the turn with the code of the provider, where that takes no more either', async () => {
    made = await stage(
      [failing('CONTEXT_WINDOW_EXCEEDED')],
      {},
      { ...heavy, rows: [system(9_000)] },
    )
    expect(await made.turn('one')).toMatchObject({
      reason: 'error',
      error: { code: 'CONTEXT_WINDOW_EXCEEDED' },
    })
    expect(made.requests).toHaveLength(1)
  })

  it('is not what a switch fails with in form messages, where a summary makes room', async () => {
    const summaries = Array.from({ length: 9 }, () => say(snapshot('in short')))
    const replies = [say(LONG.repeat(4)), say(LONG.repeat(4)), ...summaries]
    made = await stage(replies, { trigger: 'messages' })
    await made.turn('one')
    await made.turn('two')
    made.agent.choice = { model: 'window/4000', params: {} }
    expect(await made.turn('three')).toMatchObject({ reason: 'completed' })
    expect(made.texts()[0]).toContain('in short')
  })

  it('is what a switch of models fails with, when the new one has no room for it', async () => {
    made = await stage(replies(4), {}, { ...window(30_000), rows: [system(9_000)] })
    for (const text of ['one', 'two', 'three']) await made.turn(text)
    made.agent.choice = { model: 'window/8000', params: {} }
    expect(await made.turn('four')).toMatchObject({
      error: {
        code: 'MODEL_SWITCH_COMPACTION_FAILED',
        message: expect.stringMatching(/window\/8000 \(irreducible_floor\)/),
      },
    })
    made.agent.choice = { model: 'window/30000', params: {} }
    expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
    expect(made.texts().filter((text) => text === 'four')).toHaveLength(1)
  })
})

describe('no_progress', () => {
  const byCount = {
    trigger: 'messages',
    totalTokenThreshold: 10,
    keepRecentMessageCount: 2,
    minMessagesToSummarize: 2,
  }

  it('is known before a model is asked, where what is pinned is all that was said', async () => {
    made = await stage([say('ok'), say('ok'), say('ok')], byCount)
    await made.turn('Never touch a.ts.')
    await made.turn('two')
    expect(await made.turn('three')).toMatchObject({ reason: 'completed' })
    expect(made.requests).toHaveLength(3)
    expect(await made.ends()).toEqual([expect.stringContaining('(no_progress)')])
  })

  it('is a failure like any other: after three in a row there is a pause', async () => {
    made = await stage(
      Array.from({ length: 8 }, () => say('ok')),
      byCount,
    )
    for (const text of ['1', '2', '3', '4', '5', '6', '7']) await made.turn(text)
    expect(await made.ends()).toHaveLength(3)
  })

  it('is found after the model too, whose words leave nothing shorter', async () => {
    const rules = Array.from({ length: 30 }, (_, at) => `Never change port ${at} of the server.`)
    const words = `${rules.join(' ')} ${'And so on it goes. '.repeat(30)}`
    made = await stage([say('ok'), say('ok'), say(snapshot('And so on. '.repeat(20))), say('ok')], {
      ...byCount,
      summaryRetries: 0,
    })
    await made.turn(words)
    await made.turn('two')
    const { surface } = made.session
    expect(await made.turn('three')).toMatchObject({ reason: 'completed' })
    expect(made.session.surface.slice(0, surface.length)).toEqual(surface)
    expect(await made.ends()).toEqual([expect.stringContaining('(no_progress)')])
  })
})
