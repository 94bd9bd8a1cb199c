import { sessionError } from '@cordage/core/session'
import { storeError, type Clock, type Refreshed, type SessionLog } from '@cordage/core/store'
import { expect, test } from 'vitest'
import { Follower } from '../../src/store/follower.ts'

const gone = () => sessionError('SESSION_NOT_FOUND', { id: 's', location: 'here' })
const unreadable = () => storeError('STORE_DAMAGED', { id: 's', reason: 'for now' })

/** What a follower makes of a log that answers so, asked by a clock that never waits. */
async function follow(answers: (undefined | (() => Error))[]) {
  const reasons: unknown[] = []
  let asks = 0
  let heard = 0
  const quiet = Promise.withResolvers<void>()
  const refresh = async (): Promise<Refreshed> => {
    const answer = answers[asks]
    asks += 1
    if (answer) throw answer()
    return { facts: [], live: [] }
  }
  const clock = {
    now: () => 0,
    after: (_: number, work: () => void) => {
      if (asks < answers.length) queueMicrotask(work)
      else quiet.resolve()
      return () => {}
    },
  } as unknown as Clock
  new Follower({ refresh } as unknown as SessionLog, clock, {
    wanted: () => true,
    tell: () => (heard += 1),
    ended: (reason) => {
      reasons.push((reason as { code: string }).code)
      quiet.resolve()
    },
  }).start()
  await quiet.promise
  await new Promise((resolve) => setImmediate(resolve))
  return { reasons, asks, heard }
}

const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value)

test('a log that is gone or stays unreadable ends the view once, and one that comes back does not', async () => {
  expect(await follow([undefined, gone, undefined, gone, undefined])).toEqual({
    reasons: [],
    asks: 5,
    heard: 3,
  })
  expect(await follow([undefined, gone, gone, undefined])).toMatchObject({
    reasons: ['SESSION_NOT_FOUND'],
    asks: 3,
  })
  expect(await follow([...times(19, unreadable), undefined, ...times(19, unreadable)])).toEqual({
    reasons: [],
    asks: 39,
    heard: 1,
  })
  expect(await follow(times(30, unreadable))).toEqual({
    reasons: ['STORE_DAMAGED'],
    asks: 20,
    heard: 0,
  })
})
