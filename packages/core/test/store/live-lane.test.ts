import { attemptStart, stepStart, turnStart, type LiveDelta } from '@cordage/core/session'
import { expect, test } from 'vitest'
import { assistant, at, pictureOf, user } from '../session/messages.ts'
import { newSession, readAll, reopen } from './faulty-log.ts'

const text = (piece: string, more: Partial<LiveDelta> = {}): LiveDelta => {
  return { turn: 1, step: 1, attempt: 1, kind: 'text', text: piece, ...more }
}
const begun = [
  turnStart({ turn: 1 }),
  stepStart(at),
  user('hi'),
  attemptStart({ ...at, attempt: 1 }),
]

test('deltas wait 100 ms and then go as one line for each run of the same kind', async () => {
  const { session, log, clock } = await newSession()
  session.delta(text('a'))
  session.delta(text('b'))
  session.delta(text('hm', { kind: 'reasoning' }))
  session.delta(text('c'))
  clock.advance(99)
  expect(log.lane).toEqual([])
  clock.advance(1)
  expect(log.lane).toEqual([text('ab'), text('hm', { kind: 'reasoning' }), text('c')])
  session.delta(text('d'))
  clock.advance(100)
  expect(log.lane.at(-1)).toEqual(text('d'))
})

test('output of calls that run together stays apart', async () => {
  const { session, log, clock } = await newSession()
  for (const callId of ['x', 'x', 'y']) session.delta(text('o', { kind: 'tool-output', callId }))
  clock.advance(100)
  expect(log.lane).toMatchObject([
    { callId: 'x', text: 'oo' },
    { callId: 'y', text: 'o' },
  ])
})

test('16 KB of deltas do not wait', async () => {
  const { session, log } = await newSession()
  session.delta(text('中'.repeat(5000)))
  expect(log.lane).toEqual([])
  session.delta(text('中'.repeat(500)))
  expect(log.lane).toHaveLength(1)
})

test('the lane is emptied once the message that holds its text is durable', async () => {
  const { session, log, clock } = await newSession()
  session.delta(text('he'))
  clock.advance(100)
  session.delta(text('llo'))
  await session.append([assistant('hello')])
  clock.advance(1000)
  expect(log.lane).toEqual([text('he'), 'rotate'])
})

test('a message that is written but not flushed keeps the lane until the next flush', async () => {
  const { session, log } = await newSession()
  await session.append([assistant('hello')], { sync: false })
  expect(log.lane).toEqual([])
  await session.append([user('more')])
  expect(log.lane).toEqual(['rotate'])
})

test('a message that could not be written keeps the lane', async () => {
  const { session, log } = await newSession()
  log.fail = new Error('disk')
  await expect(session.append([assistant('hello')])).rejects.toThrow('disk')
  expect(log.lane).toEqual([])
})

test('after a crash the partial answer is kept with the attempt, once', async () => {
  const crashed = await newSession()
  await crashed.session.append(begun)
  crashed.session.delta(text('Once '))
  crashed.session.delta(text('upon'))
  crashed.clock.advance(100)
  const again = await reopen(crashed)
  await again.session.repair()
  await again.session.repair()
  const facts = (await readAll(again.session.read())).slice(begun.length)
  expect(facts.map((fact) => fact.type)).toEqual(['attempt/failed', 'step/end', 'turn/end'])
  expect(facts[0]?.data).toMatchObject({ partial: 'Once upon', error: { code: 'INTERRUPTED' } })
  expect(again.session.turn.open).toBe(false)
  expect(pictureOf(again.session.surface)).toEqual(['hi'])
  expect((await reopen(again)).log.live).toEqual([])
})

test('a repair whose write fails is written by the next repair, without a second copy', async () => {
  const crashed = await newSession()
  await crashed.session.append(begun)
  const { session, log } = await reopen(crashed)
  log.fail = new Error('disk')
  await expect(session.repair()).rejects.toThrow('disk')
  log.fail = undefined
  await session.repair()
  const types = (await readAll(log.read(0))).map((fact) => fact.type)
  expect(types.slice(begun.length)).toEqual(['attempt/failed', 'step/end', 'turn/end'])
})

test('closing keeps what a running attempt has said so far', async () => {
  const opened = await newSession()
  opened.session.delta(text('so far'))
  await opened.session.close()
  expect((await reopen(opened)).log.live).toEqual([text('so far')])
})
