import { createHash } from 'node:crypto'
import {
  compactionEnd,
  compactionPrune,
  compactionStart,
  compactionSummary,
  inboxSplice,
  SessionFold,
  sessionSalvaged,
  stepStart,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  type Fact,
  type NewFact,
} from '@cordage/core/session'
import { LiveSession, systemClock, type Salvage, type Store } from '@cordage/core/store'
import { expect, test } from 'vitest'
import { salvageSession } from '../../src/store/salvage-session.ts'
import { MemoryStore } from '../../../stores/memory/src/index.ts'
import { assistant, pictureOf, result, said, user } from '../session/messages.ts'
import { header } from './faulty-log.ts'

const call = (callId: string) => toolCall({ turn: 1, step: 1, callId, name: 'do', arguments: '{}' })

/** A store whose session `s1` has lost some of its facts. */
class Damaged extends MemoryStore {
  readonly #facts: readonly Fact[]
  readonly #lost: readonly number[]

  constructor(facts: readonly NewFact[], lost: readonly number[]) {
    super()
    this.#facts = facts.map((fact, seq) => ({ ...fact, seq, time: 1000 + seq }))
    this.#lost = lost
  }

  override async salvage(): Promise<Salvage> {
    const left = this.#facts.filter(({ seq }) => !this.#lost.includes(seq))
    const missing = [{ from: this.#lost[0] ?? 0, to: undefined, reason: 'a test' }]
    const bytes = Buffer.from('a picture')
    return {
      header,
      facts: each(left),
      missing: this.#lost.length > 0 ? missing : [],
      blobs: each([bytes]),
      lostBlobs: ['gone'],
    }
  }
}

async function* each<T>(values: readonly T[]) {
  yield* values
}

async function salvaged(facts: readonly NewFact[], lost: readonly number[]) {
  const store: Store = new Damaged(facts, lost)
  const report = await salvageSession(store, 's1', (found) => ({ ...header, ...found, id: 's2' }))
  const session = await LiveSession.open(await store.open('s2', { mode: 'write' }), {
    clock: systemClock,
    lookup: () => undefined,
  })
  const written: Fact[] = []
  for await (const fact of session.read()) written.push(fact)
  expect(written.map(({ seq }) => seq)).toEqual([...written.keys()])
  return { report, session, written, types: written.map(({ type }) => type) }
}

test('all facts come over with their times, and the last one says what is missing', async () => {
  const facts = [user('a'), user('b'), { type: '@x/y', v: 7, data: { kept: true } }, user('c')]
  const { report, session, written } = await salvaged(facts, [1])
  expect(written.slice(0, 3).map(({ time }) => time)).toEqual([1000, 1002, 1003])
  expect(written[1]).toMatchObject({ type: '@x/y', v: 7, data: { kept: true } })
  expect(report).toMatchObject({ id: 's2', from: 's1', facts: 3, lostBlobs: ['gone'] })
  const last = written.at(-1)
  expect(last && sessionSalvaged.is(last) && last.data).toEqual({
    from: 's1',
    facts: 3,
    missing: [{ from: 1, reason: 'a test' }],
    lostBlobs: ['gone'],
  })
  const hash = createHash('sha256').update('a picture').digest('hex')
  expect(Buffer.from(await session.getBlob(hash)).toString()).toBe('a picture')
})

test('a call whose result is lost is answered where the gap is', async () => {
  const facts = [
    turnStart({ turn: 1 }),
    stepStart({ turn: 1, step: 1 }),
    user('a'),
    assistant('b', ['x', 'y']),
    call('x'),
    call('y'),
    result('x'),
    result('y'),
    user('after'),
    turnEnd({ turn: 1, reason: 'completed' }),
  ]
  const { session, written } = await salvaged(facts, [5, 6])
  const results = written.filter((fact) => toolResult.is(fact)).map(({ data }) => data)
  expect(results.map(({ callId, error }) => [callId, error?.code])).toEqual([
    ['x', 'TOOL_OUTCOME_UNKNOWN'],
    ['y', 'TOOL_NOT_STARTED'],
    ['y', undefined],
  ])
  const roles = session.surface.map(({ message }) => message.role)
  expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'user'])
  expect(session.turn).toMatchObject({ open: false, unanswered: [] })
})

test('results whose call is lost are kept, but no model is sent them', async () => {
  const facts = [user('a'), assistant('b', ['x']), call('x'), result('x'), user('c')]
  const { session, types } = await salvaged(facts, [1])
  expect(types).toEqual([
    'user/message',
    'tool/call',
    'tool/result',
    'user/message',
    'session/salvaged',
  ])
  expect(pictureOf(session.surface)).toEqual(['a', 'c'])
})

test('compactions name the same messages as before, or do nothing', async () => {
  const compaction = (from: number, to: number) => [
    compactionStart({ id: 'c' }),
    compactionSummary({ id: 'c', range: { from, to }, message: said('summary') }),
    compactionPrune({ id: 'c', replaced: [{ seq: to, text: 'cut' }] }),
    compactionEnd({ id: 'c' }),
  ]
  const facts = [user('a'), user('b'), user('c'), user('d'), ...compaction(1, 2), user('e')]
  const whole = new SessionFold()
  facts.forEach((fact, seq) => whole.add({ ...fact, seq, time: 0 }))
  const picture = ['a', 'summary', 'd', 'e']
  expect(pictureOf(whole.surface)).toEqual(picture)
  expect(pictureOf((await salvaged(facts, [])).session.surface)).toEqual(picture)
  const before = await salvaged(facts, [0])
  expect(pictureOf(before.session.surface)).toEqual(picture.slice(1))
  const inside = await salvaged(facts, [2])
  expect(pictureOf(inside.session.surface)).toEqual(['a', 'b', 'd', 'e'])
})

test('what waited in the inbox at a gap is not run as if nobody had', async () => {
  const inserted = [{ queue: 'next-turn' as const, message: said('pay the bill') }]
  const facts = [
    inboxSplice({ inserted, cause: 'send' }),
    inboxSplice({ removed: ['pay the bill'], cause: 'claim' }),
    user('pay the bill'),
    user('later'),
  ]
  const lost = await salvaged(facts, [1, 2])
  expect(lost.session.inbox).toMatchObject([{ held: expect.stringContaining('answered') }])
  const whole = await salvaged(facts, [])
  expect(whole.session.inbox).toEqual([])
})
