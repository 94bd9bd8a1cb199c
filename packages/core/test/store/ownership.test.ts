import { LiveSession, storeError } from '@cordage/core/store'
import { expect, test } from 'vitest'
import { pictureOf, user } from '../session/messages.ts'
import { header, ManualClock, newSession, openOn, readAll, reopen } from './faulty-log.ts'

test('a session that was taken over is fenced, says so and takes no more', async () => {
  const opened = await newSession()
  const { session } = opened
  await session.append([user('mine')])
  const other = await reopen(opened)
  expect(session.writable).toBe(true)
  await expect(session.append([user('late')])).rejects.toMatchObject({ code: 'STORE_FENCED' })
  expect(session.writable).toBe(false)
  const before = session.nextSeq
  await expect(session.append([user('later')])).rejects.toMatchObject({ code: 'STORE_FENCED' })
  expect(session.nextSeq).toBe(before)
  await other.session.append([user('theirs')])
  expect(pictureOf((await reopen(opened)).session.surface)).toEqual(['mine', 'theirs'])
})

test('a session that was opened for reading shows everything and takes nothing', async () => {
  const opened = await newSession()
  await opened.session.append([user('a')])
  const { session } = await openOn(await opened.store.open('s1', { mode: 'read' }))
  expect(session.writable).toBe(false)
  expect(pictureOf(session.surface)).toEqual(['a'])
  expect(await readAll(session.read())).toHaveLength(1)
  await expect(session.append([user('b')])).rejects.toMatchObject({ code: 'SESSION_READ_ONLY' })
  await expect(session.putBlob(new Uint8Array(1))).rejects.toMatchObject({
    code: 'SESSION_READ_ONLY',
  })
  session.delta({ turn: 1, step: 1, attempt: 1, kind: 'text', text: 'x' })
  await session.close()
})

test('closing writes what was left, releases the log once and refuses what comes after', async () => {
  const opened = await newSession()
  const { session, log } = opened
  log.fail = storeError('STORE_WRITE_FAILED', { id: 's1', reason: 'no space' })
  await expect(session.append([user('a')])).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
  log.fail = undefined
  await Promise.all([session.close(), session.close()])
  expect(log.closed).toBe(1)
  await expect(session.append([user('b')])).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  await expect(session.getBlob('00')).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  const again = await openOn(await opened.store.open('s1', { mode: 'write' }))
  expect(pictureOf(again.session.surface)).toEqual(['a'])
})

test('a log is released even when what was left cannot be written', async () => {
  const { session, log, store } = await newSession()
  log.fail = storeError('STORE_WRITE_FAILED', { id: 's1', reason: 'no space' })
  await session.append([user('a')]).catch(() => {})
  await expect(session.close()).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
  await store.open('s1', { mode: 'write' })
})

test('blobs come back by their hash', async () => {
  const { session } = await newSession()
  const hash = await session.putBlob(Buffer.from('abc'))
  expect(hash).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(Buffer.from(await session.getBlob(hash)).toString()).toBe('abc')
  await expect(session.getBlob('00')).rejects.toMatchObject({ code: 'BLOB_MISSING' })
})

test('a snapshot that this version cannot read is passed over, from fact 0', async () => {
  const opened = await newSession()
  await opened.session.append([user('a')])
  await opened.session.close()
  const log = await opened.store.open('s1', { mode: 'write' })
  const fact = { seq: 1, time: 0, ...user('b') }
  await log.append([fact], { sync: true, snapshot: { seq: 1, state: { format: 9 } } })
  await log.close()
  const again = await openOn(await opened.store.open('s1', { mode: 'write' }))
  expect(again.log.tail).toHaveLength(1)
  expect(pictureOf(again.session.surface)).toEqual(['a', 'b'])
})

test('a log with a gap is refused and released', async () => {
  const { store, session } = await newSession()
  await session.close()
  const log = await store.open(header.id, { mode: 'write' })
  await log.append([{ seq: 3, time: 0, ...user('b') }], { sync: true })
  await log.close()
  const damaged = await store.open(header.id, { mode: 'write' })
  const options = { clock: new ManualClock(), lookup: () => undefined }
  await expect(LiveSession.open(damaged, options)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  await store.open(header.id, { mode: 'write' })
})
