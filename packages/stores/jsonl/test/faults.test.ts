import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HarnessError } from '@cordage/core/error'
import type { Fact } from '@cordage/core/session'
import type { Io, IoFile, SessionLog } from '@cordage/core/store'
import { codeOf, factAt, factsFrom, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Fixture, hastyIo, makeFixture } from './fixtures.ts'

/** What goes wrong next; `undefined` is a disk that works. */
interface Faults {
  write?: { code: string; after: number } | undefined
  sync?: string | undefined
  create?: string | undefined
  read?: string | undefined
  directory?: string | undefined
}

/** The real disk until a fault is set. Writes take at most `most` bytes each. */
function faultyIo(faults: Faults, most = Infinity): Io {
  const file = (real: IoFile): IoFile => ({
    ...real,
    async write(bytes, position) {
      const { write } = faults
      if (!write) return real.write(bytes.subarray(0, most), position)
      if (write.after <= 0) throw failure(write.code)
      const count = Math.min(write.after, bytes.length)
      write.after -= count
      return real.write(bytes.subarray(0, count), position)
    },
    async sync() {
      if (faults.sync) throw failure(faults.sync)
      return real.sync()
    },
  })
  return {
    ...hastyIo,
    async syncDirectory(path) {
      if (faults.directory) throw failure(faults.directory)
      return hastyIo.syncDirectory(path)
    },
    async list(path) {
      if (faults.read) throw failure(faults.read)
      return hastyIo.list(path)
    },
    async open(path, mode) {
      if (mode === 'create' && faults.create) throw failure(faults.create)
      return file(await hastyIo.open(path, mode))
    },
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

let fixture: Fixture
let faults: Faults
beforeEach(async () => {
  faults = {}
  fixture = await makeFixture({ io: faultyIo(faults) })
})
afterEach(async () => {
  Object.assign(faults, {
    write: undefined,
    sync: undefined,
    create: undefined,
    read: undefined,
    directory: undefined,
  })
  await fixture.dispose()
})

/** What another process sees now, and after the session is reopened. */
async function expectFacts(log: SessionLog, facts: readonly Fact[]): Promise<void> {
  expect(await readAll(log)).toEqual(facts)
  await log.close()
  const again = await fixture.store.open(log.header.id, { mode: 'write' })
  expect([...(await readAll(again))]).toEqual(facts)
  expect(again.notices).toEqual([])
  await again.close()
}

describe('a disk that is full', () => {
  for (const after of [0, 1, 50, 300]) {
    it(`leaves nothing of a batch of which ${after} bytes fit, and takes it later`, async () => {
      const log = await fixture.store.create(headerFor('full'))
      await log.append(factsFrom(0, 2), { sync: true })
      const large = [factAt(2, { text: Array.from({ length: 400 }, Math.random).join() })]
      faults.write = { code: 'ENOSPC', after }
      const error = await log.append(large, { sync: true }).catch((caught: HarnessError) => caught)
      expect(error).toMatchObject({ code: 'STORE_WRITE_FAILED', retryable: true })
      expect((error as HarnessError).message).toContain('the disk is full')
      expect(await readAll(log)).toEqual(factsFrom(0, 2))
      faults.write = { code: 'ENOSPC', after: 0 }
      expect(await codeOf(log.append(large, { sync: true }))).toBe('STORE_WRITE_FAILED')
      faults.write = undefined
      await log.append([...large, factAt(3)], { sync: true })
      await expectFacts(log, [...factsFrom(0, 2), ...large, factAt(3)])
    })
  }

  it('keeps the bytes that were written in vain, but in no log', async () => {
    const log = await fixture.store.create(headerFor('aside'))
    await log.append(factsFrom(0, 1), { sync: true })
    const [first = ''] = await fixture.logFiles('aside')
    const before = await readFile(first)
    faults.write = { code: 'EIO', after: 33 }
    expect(await codeOf(log.append(factsFrom(1, 1), { sync: true }))).toBe('STORE_WRITE_FAILED')
    faults.write = undefined
    await log.append(factsFrom(1, 1), { sync: true })
    expect(await readFile(first)).toEqual(before)
    const folder = join(fixture.root, 'sessions/aside/aside')
    const [kept = ''] = await readdir(folder)
    expect(await readFile(join(folder, kept))).toHaveLength(33)
    await log.close()
  })

  it('refuses what was queued behind a batch that failed', async () => {
    const log = await fixture.store.create(headerFor('queue'))
    faults.write = { code: 'ENOSPC', after: 0 }
    const first = codeOf(log.append(factsFrom(0, 1), { sync: true }))
    const second = codeOf(log.append(factsFrom(1, 1), { sync: true }))
    expect(await first).toBe('STORE_WRITE_FAILED')
    faults.write = undefined
    expect(await second).toBe('STORE_WRITE_FAILED')
    await log.append(factsFrom(0, 2), { sync: true })
    await expectFacts(log, factsFrom(0, 2))
  })

  it('makes no half session', async () => {
    for (const fault of [{ write: { code: 'ENOSPC', after: 20 } }, { create: 'EDQUOT' }]) {
      Object.assign(faults, { write: undefined, create: undefined, ...fault })
      expect(await codeOf(fixture.store.create(headerFor('half')))).toBe('STORE_WRITE_FAILED')
      expect(await fixture.store.list()).toEqual([])
    }
    Object.assign(faults, { write: undefined, create: undefined })
    await (await fixture.store.create(headerFor('half'))).close()
    expect(await readdir(join(fixture.root, 'sessions'))).toEqual(['half'])
  })

  it('does not stop a session from being opened while the next segment cannot begin', async () => {
    const log = await fixture.store.create(headerFor('begin'))
    await log.append(factsFrom(0, 1), { sync: true })
    await log.close()
    const again = await fixture.store.open('begin', { mode: 'write' })
    faults.write = { code: 'ENOSPC', after: 100 }
    expect(await codeOf(again.append([factAt(1)], { sync: true }))).toBe('STORE_WRITE_FAILED')
    faults.write = { code: 'ENOSPC', after: 60 }
    expect(await codeOf(again.append([factAt(1)], { sync: true }))).toBe('STORE_WRITE_FAILED')
    faults.write = undefined
    await again.append([factAt(1)], { sync: true })
    await expectFacts(again, factsFrom(0, 2))
  })
})

describe('a flush that fails', () => {
  it('is not believed when it later succeeds: what it may have lost is written again', async () => {
    const log = await fixture.store.create(headerFor('flush'))
    await log.append(factsFrom(0, 1), { sync: true })
    const [first = ''] = await fixture.logFiles('flush')
    const { size } = await stat(first)
    await log.append(factsFrom(1, 1), { sync: false })
    faults.sync = 'EIO'
    expect(await codeOf(log.append(factsFrom(2, 1), { sync: true }))).toBe('STORE_WRITE_FAILED')
    expect(await readAll(log)).toEqual(factsFrom(0, 2))
    // What the system may do after a flush that failed: forget the bytes, and then succeed.
    const lost = (await readFile(first)).fill(0, size)
    await writeFile(first, lost)
    faults.sync = undefined
    expect(log.wantsSnapshot).toBe(true)
    const snapshot = { seq: 2, state: 'two' }
    await log.append(factsFrom(2, 2), { sync: true, snapshot })
    const files = await fixture.logFiles('flush')
    expect(files.length).toBeGreaterThan(1)
    await expectFacts(log, factsFrom(0, 4))
    const again = await fixture.store.open('flush', { mode: 'read' })
    expect(again.snapshot).toEqual(snapshot)
    expect(again.tail).toEqual(factsFrom(2, 2))
  })

  it('of the folder only, then of the file, counts nothing as written', async () => {
    await (await fixture.store.create(headerFor('folder'))).close()
    const log = await fixture.store.open('folder', { mode: 'write' })
    faults.directory = 'EIO'
    expect(await codeOf(log.append(factsFrom(0, 1), { sync: true }))).toBe('STORE_WRITE_FAILED')
    faults.sync = 'EIO'
    expect(await codeOf(log.append(factsFrom(0, 1), { sync: true }))).toBe('STORE_WRITE_FAILED')
    Object.assign(faults, { sync: undefined, directory: undefined })
    await log.append(factsFrom(0, 2), { sync: true })
    await expectFacts(log, factsFrom(0, 2))
  })

  it('while a segment ends loses nothing that was not flushed yet', async () => {
    const { store } = await remake({ segmentMaxBytes: 600 })
    const log = await store.create(headerFor('rotate'))
    await log.append(factsFrom(0, 1), { sync: false })
    await log.append(factsFrom(1, 1), { sync: false })
    await log.append(factsFrom(2, 1), { sync: false })
    faults.sync = 'EIO'
    await log.append(factsFrom(3, 1), { sync: false })
    faults.sync = undefined
    await log.append(factsFrom(4, 1), { sync: true })
    await expectFacts(log, factsFrom(0, 5))
  })

  it('while closing is told', async () => {
    const log = await fixture.store.create(headerFor('close'))
    await log.append(factsFrom(0, 1), { sync: false })
    faults.sync = 'EIO'
    expect(await codeOf(log.close())).toBe('STORE_WRITE_FAILED')
    faults.sync = undefined
    await (await fixture.store.open('close', { mode: 'write' })).close()
  })
})

describe('a disk that cannot be read', () => {
  it('is said in one sentence, and hides nothing behind an empty list', async () => {
    const log = await fixture.store.create(headerFor('unread'))
    const hash = await log.putBlob(Buffer.from('blob'))
    faults.read = 'EACCES'
    expect(await codeOf(fixture.store.list())).toBe('STORE_UNREADABLE')
    expect(await codeOf(fixture.store.open('unread', { mode: 'read' }))).toBe('STORE_UNREADABLE')
    expect(await codeOf(readAll(log))).toBe('STORE_UNREADABLE')
    faults.create = 'EROFS'
    expect(await codeOf(log.putBlob(Buffer.from('other')))).toBe('STORE_WRITE_FAILED')
    expect(Buffer.from(await log.getBlob(hash)).toString()).toBe('blob')
    await log.close()
    expect(await codeOf(fixture.store.open('unread', { mode: 'write' }))).toBe('STORE_WRITE_FAILED')
    Object.assign(faults, { read: undefined, create: undefined })
    await (await fixture.store.open('unread', { mode: 'write' })).close()
  })
})

describe('a disk that takes little at a time', () => {
  it('gets whole batches all the same', async () => {
    const { store } = await remake({ io: faultyIo(faults, 7) })
    const log = await store.create(headerFor('short'))
    for (let seq = 0; seq < 5; seq++) await log.append([factAt(seq)], { sync: true })
    await expectFacts(log, factsFrom(0, 5))
  })
})

async function remake(more: Parameters<typeof makeFixture>[0]): Promise<Fixture> {
  await fixture.dispose()
  fixture = await makeFixture({ io: faultyIo(faults), ...more })
  return fixture
}
