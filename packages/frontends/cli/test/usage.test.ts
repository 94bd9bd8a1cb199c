import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  requestHeader,
  sessionTitle,
  stepStart,
  toolCall,
  toolResult,
  turnStart,
  type NewFact,
  type SessionHeader,
} from '@cordage/core/session'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../../stores/memory/src/memory-store.ts'
import { parseSince } from '../src/commands/arguments.ts'
import { usageOfSession } from '../src/usage/session-usage.ts'
import { usageJson, usagesText, usageText } from '../src/usage/usage-text.ts'

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
  return usageOfSession(store, summary, all, { since })
}

const place = { turn: 1, step: 1 }

function route(model: string): NewFact {
  const request = { provider: 'p', model, params: {}, tools: [], origin: [] }
  return requestHeader({ ...request, reason: 'initial' })
}

function answer(model: string, tokens: number, costUsd?: number): NewFact {
  const source = { kind: 'model', provider: 'p', model } as const
  return assistantMessage({
    ...place,
    attempt: 1,
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
const summary: NewFact = {
  type: 'compaction/summary',
  v: 1,
  data: { id: 'c', usage: { inputTokens: 30, outputTokens: 5 }, costUsd: 0.25 },
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
      [answer('a', 100, 2), 9000],
      [toolCall({ ...place, callId: 'c', name: 'bash', arguments: '{}' }), 9000],
      [result('bash', 250), 9900],
      [result('bash', 50, true), 9900],
      [route('b'), 9900],
      [answer('b', 10), 9900],
      [summary, 9900],
      [sessionTitle({ title: 'A title', by: 'user' }), 9900],
    ])

    const { own, total, title } = await usageOf(store, 'main')

    expect({ title, turns: own.turns, steps: own.steps }).toEqual({
      title: 'A title',
      turns: 1,
      steps: 1,
    })
    expect(total).toEqual({
      calls: 4,
      usage: { inputTokens: 147, outputTokens: 26, cacheReadTokens: 8, reasoningTokens: 6 },
      costUsd: 2.75,
      unpriced: 1,
      ms: 7000,
    })
    const calls = (spends: ReadonlyMap<string, { calls: number; ms: number }>) =>
      [...spends].map(([name, { calls, ms }]) => [name, calls, ms])
    expect(calls(own.models)).toEqual([
      ['p/a', 2, 7000],
      ['p/b', 2, 0],
    ])
    expect(calls(own.purposes)).toEqual([
      ['retry', 1, 2000],
      ['step', 2, 5000],
      ['summary', 1, 0],
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
    expect(text).toMatch(/^total +4 +112 .*\$23\.00/m)
    expect(text).toMatch(/^itself +1 +100 .*\$1\.00/m)
    expect(text).toMatch(/^child child +1 +10 .*\$2\.00/m)
    expect(text).toMatch(/^child fork +1 +1 .*\$16\.00/m)
    expect(text).toMatch(/^ {2}child grandchild +1 +1 .*\$4\.00/m)
    expect(usageJson(usage)).toMatchObject({
      children: expect.arrayContaining([
        expect.objectContaining({ children: [expect.objectContaining({ session: 'grandchild' })] }),
      ]),
    })
    expect(usagesText([usage])).toMatch(/^p\/b +3 +12 /m)
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
