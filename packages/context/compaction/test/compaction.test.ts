import { afterEach, describe, expect, it } from 'vitest'
import { textOf } from '@cordage/core/message'
import type { ModelEvent } from '@cordage/core/model'
import { compactionEnd } from '@cordage/core/session'
import { call, say, type Reply } from '../../../core/test/loop/boot.ts'
import { failing, LONG, saying, small, snapshot, stage, type Stage } from './stage.ts'

let made: Stage
afterEach(() => made.close())

describe('by the last usage', () => {
  it('sums up before the next step, once the threshold is reached', async () => {
    made = await stage(
      [saying(LONG, 10), saying(LONG, 1_000), say(snapshot('short')), saying('three', 100)],
      small,
    )
    await made.turn('one')
    await made.turn('two')
    expect(await made.turn('three')).toMatchObject({ reason: 'completed' })
    const [first = '', ...rest] = made.texts()
    expect(first).toContain('<current_plan>short</current_plan>')
    expect(rest).toEqual(['two', LONG, 'three', 'three'])
    expect(await made.ends()).toEqual(['ok'])
  })

  it('asks with the beginning of the last request, so that it is in the cache of a provider', async () => {
    made = await stage(
      [saying(LONG, 10), saying(LONG, 1_000), say(snapshot()), saying('three', 100)],
      small,
    )
    await made.turn('one')
    await made.turn('two')
    await made.turn('three')
    const [, before, asked] = made.requests
    expect(asked?.messages.slice(0, 2)).toEqual(before?.messages.slice(0, 2))
    expect(asked?.tools).toBe(before?.tools)
    expect(textOf(asked!.messages.at(-1)!.message)).toContain('<state_snapshot>')
  })

  it('does not compact because of what a compaction used', async () => {
    made = await stage(
      [
        saying(LONG, 10),
        saying(LONG, 1_000),
        saying(snapshot(), 5_000),
        failing('AUTH'),
        say('ok'),
      ],
      small,
    )
    await made.turn('one')
    await made.turn('two')
    await made.turn('three')
    await made.turn('four')
    expect(await made.ends()).toEqual(['ok'])
    expect(made.session.state(compactionEnd).usage).toMatchObject({
      source: 'context_compression',
      usage: { inputTokens: 5_000 },
    })
  })

  const skips: [string, Record<string, unknown>, number][] = [
    ['below_threshold', {}, 999],
    ['history_too_short', { keepRecentMessageCount: 4 }, 1_000],
    ['too_few_messages', { minMessagesToSummarize: 3 }, 1_000],
  ]
  it.each(skips)('skips with %s', async (reason, config, tokens) => {
    made = await stage([saying(LONG, 10), saying(LONG, tokens)], { ...small, ...config })
    await made.turn('one')
    await made.turn('two')
    const { root, agent } = made
    const target = root.models.resolve(agent.choice.model)
    const signal = new AbortController().signal
    const { result } = await root.compaction.compact(agent, { trigger: 'pressure', target, signal })
    expect(result).toEqual({ outcome: 'skipped', reason })
  })

  it('skips with no_usage before any answer, and with no_safe_split where a call is open', async () => {
    made = await stage([], small)
    const { root, agent } = made
    const target = root.models.resolve(agent.choice.model)
    const signal = new AbortController().signal
    const compact = (trigger: 'pressure' | 'manual') =>
      root.compaction.compact(agent, { trigger, target, signal })
    expect((await compact('pressure')).result.reason).toBe('no_usage')
    expect((await compact('manual')).result.reason).toBe('no_safe_split')
  })
})

describe('a summary that is none', () => {
  const calls = call({ id: 'a', name: 'look', arguments: '{}' })
  const cut: ModelEvent[] = [
    { type: 'text', text: snapshot() },
    { type: 'finish', reason: 'max-tokens' },
  ]
  const cases: [string, Reply][] = [
    ['summary_empty', say('  \n')],
    ['summary_cut', cut],
    ['summary_tool_calls', calls],
    ['summary_malformed', say('We talked about many plans and go on with them.')],
    ['summary_malformed', say(snapshot().replace('<current_plan>', '<current_plans>'))],
    ['summary_malformed', say(snapshot() + snapshot())],
    ['summary_too_long', say(snapshot(LONG.repeat(3)))],
    ['STREAM_CLOSED', [{ type: 'text', text: snapshot() }]],
    ['SERVER', failing('SERVER')],
  ]

  it.each(cases)(
    'fails with %s, is asked for once more, and the turn goes on',
    async (reason, bad) => {
      made = await stage(
        [saying(LONG, 10), saying(LONG, 1_000), bad, bad, say('three all the same')],
        small,
      )
      await made.turn('one')
      await made.turn('two')
      const before = made.session.surface
      expect(await made.turn('three')).toMatchObject({ reason: 'completed' })
      expect(made.session.surface.slice(0, before.length)).toEqual(before)
      expect(await made.ends()).toEqual([expect.stringContaining(`(${reason})`)])
      expect(made.texts().at(-1)).toBe('three all the same')
    },
  )

  it('is good the second time', async () => {
    made = await stage(
      [saying(LONG, 10), saying(LONG, 1_000), say(''), say(snapshot('again')), say('three')],
      small,
    )
    await made.turn('one')
    await made.turn('two')
    await made.turn('three')
    expect(made.texts()[0]).toContain('again')
    expect(made.session.state(compactionEnd).usage?.usage).toMatchObject({ inputTokens: 20 })
  })

  it('is not asked for again and again: after three in a row there is a pause', async () => {
    const bad = () => [say(''), say('')]
    const answers = Array.from({ length: 4 }, (_, at) => saying(`${at} ${LONG}`, 1_000))
    const replies = answers.flatMap((answer, at) => (at === 3 ? [answer] : [...bad(), answer]))
    made = await stage([saying(LONG, 10), saying(LONG, 1_000), ...replies], small)
    for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) {
      expect(await made.turn(text)).toMatchObject({ reason: 'completed' })
    }
    expect(await made.ends()).toHaveLength(3)
  })
})

describe('a request that the provider finds too large', () => {
  const overflow = () => failing('CONTEXT_WINDOW_EXCEEDED')
  const window = { minMessagesToSummarize: 2 }

  it('is made once more, compacted', async () => {
    made = await stage(
      [say(LONG), say(LONG), overflow(), say(snapshot('short')), say('three')],
      window,
    )
    await made.turn('one')
    await made.turn('two')
    expect(await made.turn('three')).toMatchObject({ reason: 'completed' })
    expect(made.texts()[0]).toContain('short')
    expect(made.texts().slice(-2)).toEqual(['three', 'three'])
  })

  it('fails when it is still too large: once is enough', async () => {
    made = await stage([say(LONG), say(LONG), overflow(), say(snapshot()), overflow()], window)
    await made.turn('one')
    await made.turn('two')
    expect(await made.turn('three')).toMatchObject({
      reason: 'error',
      error: { code: 'CONTEXT_WINDOW_EXCEEDED' },
    })
    expect(made.requests).toHaveLength(5)
  })

  it('fails at once where nothing became smaller', async () => {
    made = await stage([overflow()], window)
    expect(await made.turn('one')).toMatchObject({ error: { code: 'CONTEXT_WINDOW_EXCEEDED' } })
    expect(made.requests).toHaveLength(1)
  })

  it('goes on without any model where the summariser fails as well', async () => {
    const bad = [failing('SERVER'), failing('SERVER')]
    made = await stage([say(LONG), say(LONG), overflow(), ...bad, say('three')], window)
    await made.turn('Mend the parser. Never touch the lexer.')
    await made.turn('two')
    expect(await made.turn('three')).toMatchObject({ reason: 'completed' })
    expect(made.texts()[0]).toContain('No model could be had')
    expect(made.texts()[0]).toContain('constraint: Never touch the lexer.')
  })
})

describe('/compact', () => {
  it('sums up below the threshold too, and says what came of it', async () => {
    made = await stage([say(LONG), say(LONG), say(snapshot('short'))], {
      minMessagesToSummarize: 2,
    })
    await made.turn('one')
    await made.turn('two')
    expect(await made.command('/compact')).toMatch(
      /now a summary \(episode \w+\)\. The next request takes \d+/,
    )
    expect(made.texts()).toEqual([expect.stringContaining('short'), 'two', LONG])
  })

  it('says what failed, and that the history is as it was', async () => {
    made = await stage([say(LONG), say(LONG), say('no'), say('no')], { minMessagesToSummarize: 2 })
    await made.turn('one')
    await made.turn('two')
    await expect(made.command('/compact')).rejects.toMatchObject({ code: 'COMPACTION_FAILED' })
    expect(made.texts()).toEqual(['one', LONG, 'two', LONG])
  })
})

describe('/compact and a summariser that fails', () => {
  it('asks each time, and its failures keep nothing else from asking', async () => {
    const bad = Array.from({ length: 4 }, () => failing('AUTH'))
    made = await stage(
      [saying(LONG, 10), saying(LONG, 1_000), ...bad, say(snapshot('short'))],
      small,
    )
    await made.turn('one')
    await made.turn('two')
    for (let times = 0; times < bad.length; times += 1) {
      await expect(made.command('/compact')).rejects.toMatchObject({ code: 'COMPACTION_FAILED' })
    }
    const target = made.root.models.resolve(made.agent.choice.model)
    const { signal } = new AbortController()
    const request = { trigger: 'pressure', target, signal } as const
    expect((await made.root.compaction.compact(made.agent, request)).result.outcome).toBe(
      'compressed',
    )
  })
})

describe('a history that one call cannot hold', () => {
  it('is summed up in chunks, each told of the ones before it', async () => {
    const HUGE = 'word '.repeat(150_000)
    const chunks = Array.from({ length: 8 }, (_, at) => say(snapshot(`until chunk ${at}`)))
    const byHand = { trigger: 'messages', keepRecentMessageCount: 2, minMessagesToSummarize: 2 }
    made = await stage([say(HUGE), say(HUGE), ...chunks], byHand)
    await made.turn('one')
    await made.turn('two')
    await made.command('/compact')
    const asked = made.requests.slice(2).map(({ messages }) => textOf(messages[0]!.message))
    expect(asked.length).toBeGreaterThan(1)
    for (const [at, text] of asked.entries()) {
      expect(text.includes(`until chunk ${at - 1}`)).toBe(at > 0)
    }
    expect(made.texts()[0]).toContain(`until chunk ${asked.length - 1}`)
  })
})
