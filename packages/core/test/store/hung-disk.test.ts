import { createRoot } from '@cordage/core/kernel'
import { LiveSession } from '@cordage/core/store'
import { expect, test } from 'vitest'
import { simulatedClock } from '../../../kit/testkit/src/simulation/clock.ts'
import { MemoryStore } from '../../../stores/memory/src/index.ts'
import { pictureOf, user } from '../session/messages.ts'
import { header, readAll } from './faulty-log.ts'
import { HangingDisk } from './hanging-disk.ts'

const LIMIT_MS = 30_000

async function open() {
  const [store, disk, clock] = [new MemoryStore(), new HangingDisk(), simulatedClock()]
  const log = disk.log(await store.create(header))
  const session = await LiveSession.open(log, { clock, lookup: () => undefined })
  return { store, disk, clock, log, session }
}

/** Everything happens that needs neither time nor the disk. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** What became of a promise so far. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  const ended = promise.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
  const soon = new Promise<string>((resolve) => setImmediate(resolve, 'waits'))
  return Promise.race([ended, soon])
}

/** What another process would find. */
async function onDisk({ store }: { store: MemoryStore }): Promise<number[]> {
  const log = await store.open(header.id, { mode: 'read' })
  return (await readAll(log.read(0))).map(({ seq }) => seq)
}

test('a write that never ends is waited for within a limit, and nothing more is begun meanwhile', async () => {
  const made = await open()
  const { disk, clock, session } = made
  await session.append([user('before')])
  disk.hang()
  const first = session.append([user('a')])
  await settled()
  clock.advance(LIMIT_MS - 1)
  expect(await stateOf(first)).toBe('waits')
  clock.advance(1)
  expect(await stateOf(first)).toBe('STORE_WRITE_TIMEOUT')
  expect(await stateOf(session.append([user('b')]))).toBe('STORE_WRITE_TIMEOUT')
  expect(await stateOf(session.putBlob(Buffer.from('x')))).toBe('STORE_WRITE_TIMEOUT')
  expect(await onDisk(made)).toEqual([0])
  expect(pictureOf(session.surface)).toEqual(['before', 'a', 'b'])
})

test('what a late write held is in the log once, and what came after it follows', async () => {
  const made = await open()
  const { disk, clock, session, log } = made
  const told: string[] = []
  session.watch(createRoot(), (update) => {
    if (update.kind === 'fact') told.push(`${update.fact.seq}`)
  })
  disk.hang()
  const late = [session.append([user('a')]), session.append([user('b')])]
  await settled()
  clock.advance(LIMIT_MS)
  for (const one of late) expect(await stateOf(one)).toBe('STORE_WRITE_TIMEOUT')
  disk.goOn()
  await expect.poll(() => onDisk(made)).toEqual([0])
  expect(told).toEqual(['0'])
  await session.append([user('c')])
  expect(await onDisk(made)).toEqual([0, 1, 2])
  expect(told).toEqual(['0', '1', '2'])
  expect(log.batches).toHaveLength(3)
})

test('a late write that fails after all is made again with the next one', async () => {
  const made = await open()
  const { disk, clock, session, log } = made
  disk.hang()
  const late = session.append([user('a')])
  await settled()
  clock.advance(LIMIT_MS)
  expect(await stateOf(late)).toBe('STORE_WRITE_TIMEOUT')
  log.fail = new Error('gone')
  disk.goOn()
  await settled()
  log.fail = undefined
  await session.append([user('b')])
  expect(await onDisk(made)).toEqual([0, 1])
})

test('closing does not wait for ever either, and the lease is free once the disk has answered', async () => {
  const made = await open()
  const { disk, clock, session, store, log } = made
  disk.hang()
  const late = session.append([user('a')])
  await settled()
  clock.advance(LIMIT_MS)
  expect(await stateOf(late)).toBe('STORE_WRITE_TIMEOUT')
  expect(await stateOf(session.close())).toBe('STORE_WRITE_TIMEOUT')
  await expect(store.open(header.id, { mode: 'write' })).rejects.toMatchObject({
    code: 'SESSION_BUSY',
  })
  disk.goOn()
  await expect.poll(() => log.closed).toBe(1)
  await store.open(header.id, { mode: 'write' })
})

test('what has been told to end waits less, also where it waits already', async () => {
  const { disk, clock, session } = await open()
  disk.hang()
  const waiting = session.append([user('a')])
  const takeTime = session.hurry(5_000)
  await settled()
  clock.advance(5_000)
  expect(await stateOf(waiting)).toBe('STORE_WRITE_TIMEOUT')
  takeTime()
  disk.goOn()
  await settled()
  disk.hang()
  const patient = session.append([user('b')])
  await settled()
  clock.advance(LIMIT_MS - 1)
  expect(await stateOf(patient)).toBe('waits')
  clock.advance(1)
  expect(await stateOf(patient)).toBe('STORE_WRITE_TIMEOUT')
})
