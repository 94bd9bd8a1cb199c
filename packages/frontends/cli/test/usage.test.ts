import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  requestHeader,
  sessionChild,
  sessionSalvaged,
  sessionTitle,
  stepStart,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  type NewFact,
  type SessionHeader,
} from '@cordage/core/session'
import type { Store } from '@cordage/core/store'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../../stores/memory/src/memory-store.ts'
import { parseSince } from '../src/commands/arguments.ts'
import { breakDown, type Breakdown } from '../src/usage/breakdown.ts'
import { usageReader, type SessionUsage } from '../src/usage/session-usage.ts'
import { breakdownText, usageJson, usagesText, usageText } from '../src/usage/usage-text.ts'

const START = 1_800_000_000_000

type Timed = readonly [NewFact, number]

async function keep(store: MemoryStore, header: Partial<SessionHeader>, facts: readonly Timed[]) {
  const whole = { format: 1, id: 'main', createdAt: START, project: '/project', depth: 0 } as const
  const log = await store.create({ ...whole, ...header })
  const placed = facts.map(([fact, after], seq) => ({ ...fact, seq, time: START + after }))
  await log.append(placed, { sync: true })
  await log.close()
}

async function usageOf(store: MemoryStore, id: string, since?: number) {
  const all = await store.list({ children: true })
  const summary = all.find(({ header }) => header.id === id)
  if (!summary) throw new Error(`no session ${id}`)
  return usageReader(store, all, { since })(summary)
}

const place = { turn: 1, step: 1 }

function route(model: string): NewFact {
  const request = { provider: 'p', model, params: {}, tools: [], origin: [] }
  return requestHeader({ ...request, reason: 'initial' })
}

function answer(model: string, tokens: number, costUsd?: number, attempt = 1): NewFact {
  const source = { kind: 'model', provider: 'p', model } as const
  return assistantMessage({
    ...place,
    attempt,
    message: { id: `m${tokens}`, role: 'assistant', content: [], source },
    finish: 'stop',
    usage: { inputTokens: tokens, outputTokens: 10, cacheReadTokens: 4, reasoningTokens: 3 },
    ...(costUsd === undefined ? {} : { costUsd }),
  })
}

function result(name: string, durationMs: number, isError = false): NewFact {
  const part = { type: 'tool-result', callId: 'c', name, content: [], isError } as const
  return toolResult({ ...place, callId: 'c', name, messageId: 'r', part, durationMs })
}

const failed = attemptFailed({
  ...place,
  attempt: 1,
  error: { code: 'SERVER', message: 'no', retryable: true },
  usage: { inputTokens: 7, outputTokens: 1 },
  costUsd: 0.5,
})
const spent = (source: string) => ({
  usage: { inputTokens: 30, outputTokens: 5 },
  provider: 'p',
  model: 'small',
  costUsd: 0.25,
  ms: 700,
  source,
})
const summary: NewFact = {
  type: 'compaction/end',
  v: 1,
  data: { id: 'c', spent: spent('context_compression') },
}

describe('what a session spent', () => {
  it('is counted by model, purpose and tool, with the time that was waited', async () => {
    const store = new MemoryStore()
    await keep(store, {}, [
      [turnStart({ turn: 1 }), 0],
      [stepStart(place), 0],
      [route('a'), 0],
      [attemptStart({ ...place, attempt: 1 }), 1000],
      [failed, 3000],
      [attemptStart({ ...place, attempt: 2 }), 4000],
      [answer('a', 100, 2, 2), 9000],
      [toolCall({ ...place, callId: 'c', name: 'bash', arguments: '{}' }), 9000],
      [result('bash', 250), 9900],
      [result('bash', 50, true), 9900],
      [route('b'), 9900],
      [answer('b', 10), 9900],
      [summary, 9900],
      [sessionTitle({ title: 'A title', by: 'model', spent: spent('title') }), 9900],
      [turnEnd({ turn: 1, reason: 'completed' }), 10_000],
      [sessionTitle({ title: 'A title', by: 'user' }), 90_000],
    ])

    const { own, total, title } = await usageOf(store, 'main')

    const { turns, steps, wallMs } = own
    expect({ title, turns, steps, wallMs }).toEqual({
      title: 'A title',
      turns: 1,
      steps: 1,
      wallMs: 10_000,
    })
    expect(total).toEqual({
      calls: 5,
      failed: 1,
      usage: { inputTokens: 177, outputTokens: 31, cacheReadTokens: 8, reasoningTokens: 6 },
      costUsd: 3,
      unpriced: 1,
      ms: 8400,
    })
    const calls = (spends: ReadonlyMap<string, { calls: number; ms: number }>) =>
      [...spends].map(([name, { calls, ms }]) => [name, calls, ms])
    expect(calls(own.models)).toEqual([
      ['p/a', 2, 7000],
      ['p/b', 1, 0],
      ['p/small', 2, 1400],
    ])
    // The first attempt is the step's, whatever came of it; the second one is what it cost more.
    expect(calls(own.purposes)).toEqual([
      ['step', 2, 2000],
      ['retry', 1, 5000],
      ['summary', 1, 700],
      ['title', 1, 700],
    ])
    expect(own.tools.get('bash')).toEqual({ calls: 2, errors: 1, ms: 300 })
  })

  it('has that of its children in the total, and apart', async () => {
    const store = new MemoryStore()
    const spawned = (id: string, parent: string, depth: number) => {
      return { id, depth, parent: { id: parent, kind: 'spawn' } } as const
    }
    await keep(store, {}, [[answer('a', 100, 1), 0]])
    await keep(store, spawned('child', 'main', 1), [[answer('b', 10, 2), 0]])
    await keep(store, spawned('grandchild', 'child', 2), [[answer('b', 1, 4), 0]])
    await keep(store, spawned('other', 'nobody', 1), [[answer('b', 1, 8), 0]])
    // A child with the history of its parent, and two that are no children.
    const parent = { id: 'main', kind: 'fork' } as const
    const twice: Timed[] = [
      [answer('a', 100, 1), 0],
      [answer('b', 1, 16), 0],
    ]
    await keep(store, { id: 'fork', depth: 1, parent: { ...parent, seq: 1 } }, twice)
    await keep(store, { id: 'person', parent: { ...parent, seq: 1 } }, twice)
    await keep(store, { id: 'salvaged', depth: 1, parent }, twice)

    const usage = await usageOf(store, 'main')

    expect(usage.own.total.costUsd).toBe(1)
    expect(usage.total.costUsd).toBe(23)
    const text = usageText(usage)
    expect(text).toMatch(/^total +4 +0 +112 .*\$23\.00/m)
    expect(text).toMatch(/^itself +1 +0 +100 .*\$1\.00/m)
    expect(text).toMatch(/^child child +1 +0 +10 .*\$2\.00/m)
    expect(text).toMatch(/^child fork +1 +0 +1 .*\$16\.00/m)
    expect(text).toMatch(/^ {2}child grandchild +1 +0 +1 .*\$4\.00/m)
    expect(usageJson(usage)).toMatchObject({
      children: expect.arrayContaining([
        expect.objectContaining({ children: [expect.objectContaining({ session: 'grandchild' })] }),
      ]),
    })
    expect(usagesText([usage])).toMatch(/^p\/b +3 +0 +12 /m)
  })

  it('leaves to the parent what a fork took over, and out what was before a time', async () => {
    const store = new MemoryStore()
    const facts: Timed[] = [
      [answer('a', 100, 1), 0],
      [answer('a', 10, 2), 1000],
    ]
    await keep(store, {}, facts)
    await keep(store, { id: 'fork', parent: { id: 'main', kind: 'fork', seq: 1 } }, facts)

    expect((await usageOf(store, 'fork')).total.costUsd).toBe(2)
    expect((await usageOf(store, 'main')).total.costUsd).toBe(3)
    expect((await usageOf(store, 'main', START + 1)).total.costUsd).toBe(2)
  })

  it('says that a price is missing instead of showing too little', async () => {
    const store = new MemoryStore()
    await keep(store, {}, [[answer('a', 1), 0]])
    expect(usageText(await usageOf(store, 'main'))).toMatch(/^total .* - +0ms$/m)
    await keep(store, { id: 'b' }, [
      [answer('a', 1, 3), 0],
      [answer('a', 1), 0],
    ])
    expect(usageText(await usageOf(store, 'b'))).toMatch(/^total .* >\$3\.00 /m)
  })
})

describe('a breakdown', () => {
  const day = 86_400_000
  const child = sessionChild({
    session: 'child',
    kind: 'spawn',
    description: '',
    turn: 1,
    callId: 'c',
  })
  const sub = toolCall({ ...place, callId: 'c', name: 'subagent', arguments: '{}' })

  async function family() {
    const store = new MemoryStore()
    await keep(store, {}, [
      [turnStart({ turn: 1 }), 0],
      [answer('a', 100, 1), 0],
      [sub, 0],
      [child, 0],
      [result('subagent', 400), 0],
      [result('bash', 30, true), 0],
      [answer('b', 10), 3 * day],
    ])
    await keep(store, { id: 'child', depth: 1, parent: { id: 'main', kind: 'spawn' } }, [
      [answer('b', 40, 2), day],
    ])
    return [await usageOf(store, 'main')]
  }
  const lines = (by: Breakdown, sessions: readonly SessionUsage[]) =>
    breakDown(by, sessions).map(({ name, spend: { usage, costUsd } }) => {
      return [name, usage.inputTokens, costUsd]
    })

  it.each([
    [
      'model',
      [
        ['p/a', 100, 1],
        ['p/b', 50, 2],
      ],
    ],
    ['purpose', [['step', 150, 3]]],
    [
      'child',
      [
        ['main', 110, 1],
        ['child', 40, 2],
      ],
    ],
    [
      'tool',
      [
        ['subagent', 40, 2],
        ['bash', 0, 0],
      ],
    ],
  ] as const)('by %s counts children with their parents, once', async (by, expected) => {
    expect(lines(by, await family())).toEqual(expected)
  })

  it('by day goes by the days of here, in their order', async () => {
    const days = lines('day', await family())
    const name = (time: number) => new Date(time).toLocaleDateString('sv')
    expect(days).toEqual([
      [name(START), 100, 1],
      [name(START + day), 40, 2],
      [name(START + 3 * day), 10, 0],
    ])
  })

  it('leaves out sessions that are below another one that is counted', async () => {
    const [main] = await family()
    const [below] = main?.children ?? []
    if (!main || !below) throw new Error('there is no child')
    expect(lines('purpose', [main, below])).toEqual([['step', 150, 3]])
    expect(usagesText([main, below])).toMatch(/^total +3 +0 +150 /m)
  })

  it('says what its figures leave out, and what of the input a cache had', async () => {
    const text = breakdownText('model', await family())
    expect(text).toMatch(/^model +calls +failed +input +cached/)
    expect(text).toMatch(/^p\/a +1 +0 +100 +4 \(4%\) .*\$1\.00/m)
    expect(text).toMatch(/^total +3 +0 +150 .*>\$3\.00/m)
    expect(text).toContain('1 call has no price: what they cost is not in it.')
    const children = breakdownText('child', await family())
    expect(children).toMatch(/^main +2 +0 +110 .*\nchild child +1 +0 +40 /m)
    const tools = breakdownText('tool', await family())
    expect(tools).toMatch(/^subagent +1 +0 +400ms +1 +0 +40 /m)
    expect(tools).toMatch(/^bash +1 +1 +30ms +0 /m)
  })
})

describe('what stands in a log', () => {
  it('of another kind counts by what it says it spent, and harms nothing where it is nonsense', async () => {
    const store = new MemoryStore()
    const odd = (type: string, data: unknown): Timed => [{ type, v: 9, data }, 0]
    await keep(store, {}, [
      odd('they/asked', { usage: { inputTokens: 5, outputTokens: 1 }, costUsd: 1 }),
      odd('they/asked', {
        spent: { ...spent('their-own-word'), usage: { inputTokens: 3, outputTokens: -4 } },
      }),
      odd('they/failed', { spent: spent('title'), error: { code: 'X' } }),
      odd('they/asked', { usage: { inputTokens: 'many', outputTokens: Number.NaN } }),
      ...['tool/call', 'tool/result', 'session/child', 'request/header', 'turn/start', 'x'].flatMap(
        (type) => [odd(type, null), odd(type, 7), odd(type, { part: null, message: [] })],
      ),
      odd('assistant/message', null),
      odd('attempt/failed', {}),
    ])
    const { own, total } = await usageOf(store, 'main')
    expect([...own.purposes].map(([purpose, spend]) => [purpose, spend.calls])).toEqual([
      ['other', 2],
      ['title', 1],
      ['step', 2],
    ])
    expect(total).toMatchObject({
      failed: 2,
      usage: { inputTokens: 5 + 3 + 30, outputTokens: 1 + 0 + 5 },
      costUsd: 1.5,
    })
  })

  it('is counted once where it was salvaged from a session that is still there', async () => {
    const store = new MemoryStore()
    const salvaged = sessionSalvaged({ from: 'main', facts: 1, missing: [], lostBlobs: [] })
    await keep(store, {}, [[answer('a', 100, 1), 0]])
    await keep(store, { id: 'saved', parent: { id: 'main', kind: 'fork' } }, [
      [route('a'), 0],
      [answer('a', 100, 1), 0],
      [salvaged, 0],
      [failed, 0],
    ])
    const { own } = await usageOf(store, 'saved')
    expect(own.total).toMatchObject({ costUsd: 0.5, calls: 1 })
    expect([...own.models.keys()]).toEqual(['p/a'])
    await store.delete('main')
    expect((await usageOf(store, 'saved')).total.costUsd).toBe(1.5)
  })

  it('is read one fact at a time: none is held while the next one is looked at', async () => {
    const { header } = await usageOf(await keptEmpty(), 'main')
    async function* read() {
      // One object for all of them.
      const fact: Record<string, unknown> = {}
      for (let seq = 0; seq < 20_000; seq += 1) {
        yield Object.assign(fact, answer('a', seq, 1), { seq, time: START + seq })
      }
    }
    const huge = { open: async () => ({ header, read, close: async () => {} }) }
    const usage = await usageReader(
      huge as unknown as Store,
      [],
    )({ header, updatedAt: 0, bytes: 0 })
    expect(usage.total).toMatchObject({ calls: 20_000, costUsd: 20_000 })
    expect(usage.total.usage.inputTokens).toBe((20_000 * 19_999) / 2)
  })
})

async function keptEmpty(): Promise<MemoryStore> {
  const store = new MemoryStore()
  await keep(store, {}, [])
  return store
}

describe('--since', () => {
  it('takes a span before now, and a date as a day here', () => {
    const hour = 3_600_000
    expect(parseSince('1h') + hour).toBeLessThanOrEqual(Date.now())
    expect(parseSince('2026-11-30')).toBe(new Date(2026, 10, 30).getTime())
    expect(parseSince('2026-11-30T10:00Z')).toBe(Date.UTC(2026, 10, 30, 10))
  })

  it.each(['', 'yesterday', '7', '7w', '2026-13-45', '-1d'])('refuses %j', (text) => {
    expect(() => parseSince(text)).toThrow('Give 7d')
  })
})
