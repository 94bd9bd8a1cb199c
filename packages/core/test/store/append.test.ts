import {
  sessionDirectory,
  turnStart,
  userMessage,
  type Fact,
  type NewFact,
} from '@cordage/core/session'
import { storeError } from '@cordage/core/store'
import { expect, test } from 'vitest'
import { pictureOf, user } from '../session/messages.ts'
import { counted } from '../session/random-log.ts'
import { newSession, readAll, reopen } from './faulty-log.ts'

const failure = storeError('STORE_WRITE_FAILED', { id: 's1', reason: 'no space' })
const seqs = (facts: readonly Fact[]) => facts.map((fact) => fact.seq)

function gate() {
  const { promise: closed, resolve: open } = Promise.withResolvers<void>()
  return { closed, open }
}

test('facts are seen at once and the promise waits until they are written', async () => {
  const { session, log } = await newSession()
  const { closed, open } = gate()
  log.gate = closed
  let done = false
  const written = session.append([user('a')]).then(() => (done = true))
  expect(pictureOf(session.surface)).toEqual(['a'])
  expect(session.nextSeq).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(done).toBe(false)
  expect(log.batches).toEqual([])
  open()
  await written
  expect(log.batches[0]).toMatchObject({ sync: true, facts: [{ seq: 0, type: 'user/message' }] })
})

test('batches are written whole, in the order of their calls', async () => {
  const { session, log } = await newSession()
  const { closed, open } = gate()
  log.gate = closed
  const appends = [
    session.append([user('a'), user('b')]),
    session.append([user('c')], { sync: false }),
    session.append([user('d')]),
  ]
  open()
  const returned = await Promise.all(appends)
  expect(returned.map(seqs)).toEqual([[0, 1], [2], [3]])
  expect(log.batches.map((batch) => seqs(batch.facts))).toEqual([[0, 1], [2], [3]])
  expect(log.batches.map((batch) => batch.sync)).toEqual([true, false, true])
})

test('a batch that could not be written is kept and goes first with the next append', async () => {
  const opened = await newSession()
  const { session, log } = opened
  log.fail = failure
  await expect(session.append([user('prompt')])).rejects.toBe(failure)
  expect(pictureOf(session.surface)).toEqual(['prompt'])
  await expect(session.append([user('more')])).rejects.toBe(failure)
  log.fail = undefined
  await session.append([user('last')])
  expect(log.batches.map((batch) => seqs(batch.facts))).toEqual([[0], [1], [2]])
  await session.close()
  expect(pictureOf((await reopen(opened)).session.surface)).toEqual(['prompt', 'more', 'last'])
})

test('appends that were waiting behind a failed write each try again, and nothing is written twice', async () => {
  const { session, log } = await newSession()
  const { closed, open } = gate()
  log.gate = closed
  log.fail = failure
  const first = session.append([user('a')]).catch((error: unknown) => {
    log.fail = undefined
    return error
  })
  const second = session.append([user('b')])
  open()
  expect(await first).toBe(failure)
  await second
  expect(log.batches.map((batch) => seqs(batch.facts))).toEqual([[0], [1]])
})

test('an empty append writes what an earlier one could not', async () => {
  const { session, log } = await newSession()
  log.fail = failure
  await expect(session.append([user('a')])).rejects.toBe(failure)
  log.fail = undefined
  expect(await session.append([])).toEqual([])
  expect(log.batches.map((batch) => seqs(batch.facts))).toEqual([[0]])
})

test.each<[string, NewFact, string]>([
  ['does not fit its schema', turnStart({ turn: 0 }), 'turn: '],
  ['is not JSON', { type: 'x/y', v: 1, data: { at: [Number.NaN] } }, 'at.0 is NaN'],
  ['contains itself', { type: 'x/y', v: 1, data: cycle() }, 'self contains itself'],
  ['does not fit the schema of a plugin', counted({ by: 'one' as unknown as number }), 'by: '],
])('when one fact %s nothing of its batch is added', async (_, bad, reason) => {
  const { session, log } = await newSession()
  const error = await session.append([user('a'), bad]).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'EVENT_INVALID', message: expect.stringContaining(reason) })
  expect(session.nextSeq).toBe(0)
  expect(session.surface).toEqual([])
  await session.append([user('b')])
  expect(log.batches.map((batch) => seqs(batch.facts))).toEqual([[0]])
})

function cycle() {
  const data: Record<string, unknown> = {}
  data.self = data
  return data
}

test('facts are frozen, keep members that the schema does not know, and are not what was given', async () => {
  const { session } = await newSession()
  const data = { cwd: '/a', more: { kept: true } }
  const [fact] = await session.append([sessionDirectory(data)])
  data.more.kept = false
  expect(fact?.data).toEqual({ cwd: '/a', more: { kept: true } })
  const kept = fact?.data as typeof data
  expect(Object.isFrozen(kept.more)).toBe(true)
  expect(session.cwd).toBe('/a')
})

test('the current directory is the project until a fact says otherwise', async () => {
  const { session } = await newSession()
  expect(session.cwd).toBe('/project')
})

test('reading gives every fact once, those too that are not written yet', async () => {
  const { session, log } = await newSession()
  await session.append([user('a'), user('b')])
  log.fail = failure
  await expect(session.append([user('c')])).rejects.toBe(failure)
  expect(seqs(await readAll(session.read()))).toEqual([0, 1, 2])
  expect(seqs(await readAll(session.read(2)))).toEqual([2])
  expect(seqs(await readAll(session.read(3)))).toEqual([])
  log.fail = undefined
  const reading = session.read()[Symbol.asyncIterator]()
  await reading.next()
  await session.append([user('d')])
  expect((await reading.next()).value.seq).toBe(1)
  expect((await reading.next()).value.seq).toBe(2)
  expect((await reading.next()).done).toBe(true)
})

test('a snapshot is of what is before its batch, though the session is already ahead', async () => {
  const opened = await newSession()
  const { session, log } = opened
  await session.append([user('a')])
  const { closed, open } = gate()
  log.gate = closed
  log.beginSegment()
  const appends = ['b', 'c', 'd'].map((text) => session.append([user(text), counted({ by: 1 })]))
  open()
  await Promise.all(appends)
  expect(log.batches[1]?.snapshot?.seq).toBe(1)
  expect(log.batches[2]?.snapshot).toBeUndefined()
  const again = await reopen(opened)
  expect(again.log.tail).toHaveLength(6)
  expect(pictureOf(again.session.surface)).toEqual(['a', 'b', 'c', 'd'])
  expect(again.session.state(counted)).toBe(3)
  expect(again.session.nextSeq).toBe(7)
})

test('a message with lone surrogates and Chinese text survives reopening', async () => {
  const opened = await newSession()
  const text = '中文 \ud800 \u0000 \u2028 end'
  await opened.session.append([user(text)])
  expect(pictureOf((await reopen(opened)).session.surface)).toEqual([text])
})

test('a reducer that throws leaves its state and is reported', async () => {
  const { session, reports } = await newSession()
  await session.append([counted({ by: 2 })])
  await session.append([{ type: counted.type, v: 0, data: null }])
  await session.append([counted({ by: 3 })])
  expect(session.state(counted)).toBe(5)
  expect(reports).toEqual([counted.type])
})

test('user messages are typed by their definition', async () => {
  const { session } = await newSession()
  const [fact] = await session.append([user('a')])
  expect(fact && userMessage.is(fact) && fact.data.message.id).toBe('a')
})

test('facts for later are seen at once and written in one batch with the next ones', async () => {
  const { session, log } = await newSession()
  const places = await session.append([user('a')], { later: true })
  expect(seqs(places)).toEqual([0])
  await session.append([user('b')], { later: true })
  expect(pictureOf(session.surface)).toEqual(['a', 'b'])
  expect(log.batches).toEqual([])
  expect(seqs(await readAll(session.read()))).toEqual([0, 1])
  await session.append([user('c')])
  await session.append([user('d')])
  expect(log.batches.map((batch) => seqs(batch.facts))).toEqual([[0, 1, 2], [3]])
  expect(log.batches.map((batch) => batch.sync)).toEqual([true, true])
})

test('facts for later are written after 20 ms when nothing comes after them, and when closing', async () => {
  const opened = await newSession()
  const { session, log, clock } = opened
  await session.append([user('a')], { later: true })
  clock.advance(19)
  await session.append([user('b')], { later: true })
  clock.advance(1)
  await expect.poll(() => log.batches.map((batch) => seqs(batch.facts))).toEqual([[0, 1]])
  await session.append([user('c')], { later: true })
  await session.close()
  expect(pictureOf((await reopen(opened)).session.surface)).toEqual(['a', 'b', 'c'])
})

test('facts for later that could not be written fail the next append, and then go with it', async () => {
  const { session, log, clock } = await newSession()
  log.fail = failure
  await session.append([user('a')], { later: true })
  clock.advance(20)
  await expect(session.append([user('b')])).rejects.toBe(failure)
  log.fail = undefined
  await session.append([user('c')])
  expect(log.batches.flatMap((batch) => seqs(batch.facts))).toEqual([0, 1, 2])
})

test('facts that come while those for later are being written are a batch of their own', async () => {
  const { session, log, clock } = await newSession()
  const { closed, open } = gate()
  log.gate = closed
  await session.append([user('a')], { later: true })
  clock.advance(20)
  await Promise.resolve()
  const second = session.append([user('b')])
  open()
  await second
  expect(log.batches.map((batch) => seqs(batch.facts))).toEqual([[0], [1]])
})

test('a snapshot goes with the first batch for later, of what is before all of it', async () => {
  const opened = await newSession()
  const { session, log } = opened
  await session.append([user('a')])
  log.beginSegment()
  await session.append([user('b')], { later: true })
  await session.append([user('c')], { later: true })
  await session.append([counted({ by: 2 })])
  expect(log.batches[1]).toMatchObject({ snapshot: { seq: 1 }, facts: [{}, {}, {}] })
  const again = await reopen(opened)
  expect(pictureOf(again.session.surface)).toEqual(['a', 'b', 'c'])
  expect(again.session.state(counted)).toBe(2)
})
