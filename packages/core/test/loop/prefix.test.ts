import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findBreak } from '../../src/loop/prefix.ts'
import { openPrefixStage, sections, toolNames, usual, type PrefixStage } from './prefix-stage.ts'

let stage: PrefixStage
beforeAll(async () => void (stage = await openPrefixStage()))
beforeEach(() => stage.begin())
afterAll(async () => {
  await stage.agent.close()
  await stage.bench.close()
})

/** What the log says of the last attempt. */
const last = async () => (await stage.attempts()).at(-1)?.fact?.data

describe('a request that does not begin as the one before', () => {
  it.each([
    ['stable', 'Be quick.', 'changed'],
    ['per-session', '', 'removed'],
  ])('says so where the section %s becomes %j', async (id, text, why) => {
    await stage.turn('one')
    stage.given.texts[id] = text
    await stage.turn('two')
    const part = `system: ${id}`
    expect((await last())?.changes).toEqual([{ why, part, row: 'stage-row', stability: id }])
  })

  it('says so where a section has other words of the same length', async () => {
    await stage.turn('one')
    stage.given.texts['volatile'] = 'Hm?.'
    await stage.turn('two')
    expect((await last())?.changes).toEqual([
      { why: 'changed', part: 'system: volatile', row: 'stage-row', stability: 'volatile' },
    ])
  })

  it('names the tool that came and the one that went, and the bytes', async () => {
    await stage.turn('one')
    stage.given.tools.delete('alpha')
    stage.given.tools.add('gamma')
    await stage.turn('two')
    const [{ body: before } = { body: '' }, { body: now, fact } = { body: '' }] =
      await stage.attempts()
    const at = before.indexOf('alpha')
    expect(now.slice(0, at)).toBe(before.slice(0, at))
    expect(fact?.data).toEqual({
      turn: 2,
      step: 1,
      attempt: 1,
      sharedBytes: at,
      lostBytes: Buffer.byteLength(before.replace(/[\]}]+$/, '')) - at,
      changes: [
        { why: 'removed', part: 'tool: alpha', row: 'stage-row', stability: 'stable' },
        { why: 'added', part: 'tool: gamma', row: 'stage-row', stability: 'stable' },
      ],
    })
  })

  it('says that the model is another, or what it is asked for', async () => {
    await stage.turn('one')
    stage.agent.choice = { model: 'test/other', params: {} }
    await stage.turn('two')
    expect((await last())?.changes).toEqual([{ why: 'model', part: 'test/other' }])
    stage.agent.choice = { model: 'test/other', params: { effort: 'high' } }
    await stage.turn('three')
    expect((await last())?.changes).toEqual([{ why: 'params' }])
  })

  it('says that history was cut, and by whom it was made shorter', async () => {
    await stage.turn('one', { calls: true })
    await stage.prune()
    await stage.turn('two')
    expect((await last())?.changes).toEqual([{ why: 'pruning' }])
    await stage.compact()
    await stage.turn('three')
    expect((await last())?.changes).toEqual([{ why: 'compaction', row: 'shortener' }])
  })

  it('is known after a restart as well, with its bytes', async () => {
    await stage.turn('one')
    await stage.restart()
    await stage.turn('two')
    expect(await last()).toBeUndefined()
    stage.given.texts['stable'] = 'Be quick.'
    await stage.restart()
    await stage.turn('three')
    const told = await last()
    expect(told).toMatchObject({ resumed: true, changes: [{ part: 'system: stable' }] })
    expect(told?.sharedBytes).toBeGreaterThan(100)
  })

  it('is known where the one before cannot be made any more', async () => {
    await stage.turn('one')
    await stage.restart()
    await stage.compact()
    await stage.turn('two')
    expect(await last()).toEqual({
      turn: 2,
      step: 1,
      attempt: 1,
      resumed: true,
      changes: [{ why: 'compaction', row: 'shortener' }],
    })
  })
})

describe('a tool that comes later', () => {
  it('moves none of those before it, and keeps its place after a restart', async () => {
    stage.given.tools = new Set(['beta', 'gamma'])
    await stage.turn('one')
    stage.given.tools = new Set(toolNames)
    await stage.turn('two')
    await stage.restart()
    await stage.turn('three')
    const names = stage.agent.session.requestHeader?.tools.map(({ name }) => name)
    expect(names).toEqual(['beta', 'gamma', 'alpha'])
    const told = (await stage.attempts()).map(({ fact }) => fact?.data.changes)
    expect(told).toEqual([
      undefined,
      [{ why: 'added', part: 'tool: alpha', row: 'stage-row', stability: 'stable' }],
      undefined,
    ])
  })
})

/** What may happen between two turns, and in one. */
const action = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), id: fc.constantFrom(...sections), text: text() }),
  fc.record({ kind: fc.constant('weather' as const), text: text() }),
  fc.record({ kind: fc.constant('tool' as const), name: fc.constantFrom(...toolNames) }),
  fc.record({
    kind: fc.constant('choice' as const),
    model: fc.constantFrom('test/model', 'test/other', 'test/in-history'),
    effort: fc.constantFrom(undefined, 'high'),
  }),
  fc.record({ kind: fc.constantFrom('compact' as const, 'prune' as const, 'restart' as const) }),
)
const turn = fc.record({
  before: fc.array(action, { maxLength: 2 }),
  said: text(),
  calls: fc.boolean(),
  fails: fc.boolean(),
})
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

function text() {
  return fc.constantFrom('', 'a', '你好', '😀', ']}', '"]}', '\\', 'Be kind.', 'Rain.')
}

async function act(what: Action): Promise<void> {
  const { given, agent } = stage
  if (what.kind === 'text') given.texts[what.id] = what.text
  else if (what.kind === 'weather') given.texts['weather'] = what.text
  else if (what.kind === 'choice') {
    const params = what.effort === undefined ? {} : { effort: what.effort }
    agent.choice = { model: what.model, params }
  } else if (what.kind === 'tool') {
    if (!given.tools.delete(what.name)) given.tools.add(what.name)
  } else await stage[what.kind]()
}

describe('whatever a composition and a talk do', () => {
  it('a fact stands before a request exactly where it does not begin as the one before', async () => {
    const talks = fc.array(turn, { minLength: 2, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(talks, async (turns) => {
        await stage.begin()
        for (const { before, said, ...how } of turns) {
          for (const one of before) await act(one)
          await stage.turn(said || 'Go on', how)
        }
        const attempts = await stage.attempts()
        for (const [at, { body, fact }] of attempts.entries()) {
          const begin = attempts[at - 1]?.body.replace(/[\]}]+$/, '') ?? ''
          expect(fact === undefined, `request ${at}`).toBe(body.startsWith(begin))
          expect(fact?.data.changes.map(({ why }) => why) ?? []).not.toContain('route')
          if (fact?.data.sharedBytes === undefined) continue
          const [old, now] = [Buffer.from(begin), Buffer.from(body)]
          const { sharedBytes, lostBytes } = fact.data
          expect(now.subarray(0, sharedBytes).equals(old.subarray(0, sharedBytes))).toBe(true)
          expect(sharedBytes + lostBytes!).toBe(old.length)
          // At most the bytes of one character that both have the beginning of.
          const next = now.subarray(0, sharedBytes + 4).equals(old.subarray(0, sharedBytes + 4))
          expect(next && lostBytes! > 4).toBe(false)
        }
      }),
    )
  })
})

describe('two bodies', () => {
  const pieces = (...parts: string[]) => parts

  it('are the same as far as marks for a cache go', () => {
    const mark = ',"cache_control":{"type":"ephemeral"}'
    const before = pieces('{', '"messages":[', `{"text":"a"${mark}}`, ']', '}')
    const now = pieces('{', '"messages":[', '{"text":"a"}', `,{"text":"b"${mark}}`, ']', '}')
    expect(findBreak(before, now)).toBeUndefined()
    const other = pieces('{', '"messages":[', '{"text":"b"}', ']', '}')
    expect(findBreak(before, other)).toEqual({ sharedBytes: 22, lostBytes: 2 })
  })

  it('part between characters', () => {
    expect(findBreak(pieces('{"a":"😀"}'), pieces('{"a":"😁"}'))).toEqual({
      sharedBytes: 6,
      lostBytes: 5,
    })
  })
})

it('begins with nothing that was said of another session', async () => {
  stage.given = { ...usual(), tools: new Set() }
  await stage.turn('one')
  expect(await last()).toBeUndefined()
})
