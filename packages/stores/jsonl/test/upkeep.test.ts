import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sessionArchived } from '@cordage/core/session'
import type { Io } from '@cordage/core/store'
import { codeOf, factAt, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contentsOf, type Fixture, hastyIo, makeFixture } from './fixtures.ts'

let fixture: Fixture
let root: string
beforeEach(async () => {
  fixture = await makeFixture({ segmentMaxBytes: 20_000 })
  root = join(fixture.root, 'sessions')
})
afterEach(() => fixture.dispose())

/** Facts in batches of one, over several owners and segments, snapshots among them. */
async function makeLong(id: string, count = 90): Promise<void> {
  await (await fixture.store.create(headerFor(id))).close()
  for (let from = 0; from < count; from += 30) {
    const log = await fixture.store.open(id, { mode: 'write' })
    for (let seq = from; seq < from + 30; seq += 1) {
      const snapshot = log.wantsSnapshot ? { snapshot: { seq, state: { before: seq } } } : {}
      await log.append([factAt(seq, { text: `fact ${seq} ${'words '.repeat(50)}` })], {
        sync: false,
        ...snapshot,
      })
    }
    await log.close()
  }
}

async function contentOf(id: string) {
  const log = await fixture.store.open(id, { mode: 'read' })
  const { header, snapshot, tail, notices } = log
  const facts = await readAll(log)
  await log.close()
  return { header, snapshot, tail, notices, facts }
}

const segmentsOf = async (id: string) => (await readdir(join(root, id, 'log'))).sort()

describe('pack', () => {
  it('makes a log smaller and leaves its facts and its snapshot as they are', async () => {
    await makeLong('long')
    const before = await contentOf('long')
    const packed = await fixture.store.upkeep?.pack('long')
    expect(packed?.after).toBeLessThan((packed?.before ?? 0) / 2)
    expect(await contentOf('long')).toEqual(before)
    expect((await readdir(join(root, 'long'))).sort()).toEqual(['lease.db', 'log'])
    const log = await fixture.store.open('long', { mode: 'write' })
    expect(log.tail.length).toBe(before.tail.length)
    await log.append([factAt(90)], { sync: true })
    await log.close()
    expect((await contentOf('long')).facts).toEqual([...before.facts, factAt(90)])
  })

  it('refuses what somebody owns, and what is damaged, and changes nothing of it', async () => {
    await makeLong('long')
    const owner = await fixture.store.open('long', { mode: 'write' })
    expect(await codeOf(fixture.another().upkeep!.pack('long'))).toBe('SESSION_BUSY')
    await owner.close()
    const [, second = ''] = await segmentsOf('long')
    const path = join(root, 'long/log', second)
    await writeFile(path, Buffer.alloc((await stat(path)).size))
    const before = await contentsOf(join(root, 'long'))
    expect(await codeOf(fixture.store.upkeep!.pack('long'))).toBe('STORE_DAMAGED')
    const after = await contentsOf(join(root, 'long'))
    expect(Object.fromEntries(Object.keys(before).map((name) => [name, after[name]]))).toEqual(
      before,
    )
    expect(await codeOf(fixture.store.upkeep!.pack('nobody'))).toBe('SESSION_NOT_FOUND')
  })
})

/** The disk for a user who may not look into these folders, nor remove them. */
function forbidding(io: Io, folders: readonly string[]): Io {
  const within = (path: string) => folders.some((folder) => path.startsWith(folder))
  const holds = (path: string) => folders.some((folder) => folder.startsWith(`${path}/`))
  const refuse = () => {
    throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
  }
  return {
    ...io,
    list: async (path) => (within(path) ? refuse() : io.list(path)),
    locked: async (path) => (within(path) ? refuse() : io.locked(path)),
    remove: async (path) => (within(path) || holds(path) ? refuse() : io.remove(path)),
  }
}

const day = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() + -days * day)

async function makeOld(id: string, days: number, bytes = 100): Promise<void> {
  const log = await fixture.store.create(headerFor(id))
  await log.append([factAt(0, { text: Buffer.alloc(bytes, id).toString('base64') })], {
    sync: true,
  })
  await log.putBlob(Buffer.alloc(bytes, id))
  await log.close()
  const time = daysAgo(days)
  for (const name of await segmentsOf(id)) await utimes(join(root, id, 'log', name), time, time)
}

const ids = async () => (await fixture.store.list()).map(({ header }) => header.id)

describe('collect', () => {
  it('removes what is too old, the oldest first where space is short, and says so', async () => {
    for (const [id, days] of [
      ['a', 40],
      ['b', 20],
      ['c', 10],
      ['d', 0],
    ] as const) {
      await makeOld(id, days, 50_000)
    }
    const upkeep = fixture.store.upkeep!
    expect((await upkeep.collect()).sessions).toEqual([])
    const dry = await upkeep.collect({ maxAgeDays: 30, maxTotalBytes: 120_000, dryRun: true })
    expect(dry.sessions.map(({ id, reason }) => [id, reason])).toEqual([
      ['a', 'age'],
      ['b', 'space'],
    ])
    expect(await ids()).toEqual(['d', 'c', 'b', 'a'])
    expect(await upkeep.collect({ maxAgeDays: 30, maxTotalBytes: 120_000 })).toEqual(dry)
    expect(await ids()).toEqual(['d', 'c'])
    expect(await readdir(root)).not.toContain('a')
  })

  it('never touches what somebody owns, is damaged or, if asked, was put away', async () => {
    for (const id of ['owned', 'damaged', 'away', 'plain']) await makeOld(id, 100)
    await writeFile(join(root, 'damaged/log/000001.jsonl.zst'), 'rubbish')
    const away = await fixture.store.open('away', { mode: 'write' })
    await away.append([{ ...sessionArchived({ archived: true }), seq: 1, time: 1 }], { sync: true })
    await away.close()
    await writeFile(join(root, 'owned/blobs/half.tmp'), 'half')
    const owner = await fixture.store.open('owned', { mode: 'write' })
    const before = await contentsOf(join(root, 'owned'))
    const other = fixture.another()
    const limits = { maxAgeDays: -1, blobs: true, asideDays: 0 }
    const collected = await other.upkeep!.collect({ ...limits, keepArchived: true })
    expect(collected.sessions.map(({ id }) => id)).toEqual(['plain'])
    expect(await contentsOf(join(root, 'owned'))).toEqual(before)
    await owner.close()
    expect((await other.upkeep!.collect(limits)).sessions.map(({ id }) => id).sort()).toEqual([
      'away',
      'owned',
    ])
    expect(existsSync(join(root, 'damaged'))).toBe(true)
  })

  it('removes blobs that nothing names, old bytes aside and what the dead left behind', async () => {
    const log = await fixture.store.create(headerFor('full'))
    const inner = await log.putBlob(Buffer.from('named by a blob'))
    const outer = await log.putBlob(Buffer.from(`a list: ${inner}`))
    await log.putBlob(Buffer.from('named by nothing'))
    await log.append([factAt(0, { image: { blob: outer } })], { sync: true })
    await log.close()
    const old = daysAgo(40)
    const put = async (path: string, time = old) => {
      await mkdir(join(root, path, '..'), { recursive: true })
      await writeFile(join(root, path), 'x')
      await utimes(join(root, path), time, time)
    }
    await put('full/aside/1-20-old.bin')
    await put('full/aside/1-40-new.bin', new Date())
    await put('full/blobs/cut.tmp')
    await put('full/log.packed/000001.jsonl.zst')
    await put('full/lease.db.1-new.tmp', new Date())
    await put('.trash-gone-1/log/000001.jsonl.zst')
    await put('.new-half-1/log/000001.jsonl.zst')
    await utimes(join(root, '.new-half-1'), old, old)
    await put('.new-now-1/log/000001.jsonl.zst')
    const kept = { aside: 1, leftovers: 3 }
    expect(await fixture.store.upkeep!.collect({ dryRun: true })).toMatchObject({
      ...kept,
      blobs: 0,
    })
    const collected = await fixture.store.upkeep!.collect({ blobs: true })
    expect(collected).toMatchObject({ ...kept, blobs: 1, sessions: [] })
    expect((await readdir(root)).sort()).toEqual(['.collected', '.new-now-1', 'full'])
    expect((await readdir(join(root, 'full'))).sort()).toEqual([
      'aside',
      'blobs',
      'lease.db',
      'lease.db.1-new.tmp',
      'log',
    ])
    expect((await readdir(join(root, 'full/blobs'))).sort()).toEqual([inner, outer].sort())
    expect(await readdir(join(root, 'full/aside'))).toEqual(['1-40-new.bin'])
    expect((await contentOf('full')).notices).toEqual([])
  })

  it('removes what an import that died left behind after a day, and none that goes on', async () => {
    const [dead, alive] = [headerFor('dead'), headerFor('alive')]
    const other = fixture.another()
    for (const header of [dead, alive]) {
      const log = await other.stage(header)
      await log.append([factAt(0)], { sync: true })
    }
    const drafts = async () => (await readdir(root)).filter((name) => name.startsWith('.new-'))
    const draft = (await drafts()).find((name) => name.startsWith('.new-dead')) ?? ''
    await rename(join(root, draft, 'lease.db'), join(root, draft, 'lease.db-of-nobody'))
    expect(await fixture.store.upkeep!.collect()).toMatchObject({ leftovers: 0 })
    for (const name of await drafts()) await utimes(join(root, name), daysAgo(2), daysAgo(2))
    expect(await fixture.store.upkeep!.collect()).toMatchObject({ leftovers: 1 })
    expect(await drafts()).toEqual([expect.stringMatching(/^\.new-alive-/)])
  })

  it('has nothing of a session that is deleted in what an import of it left behind', async () => {
    const other = fixture.another()
    for (const id of ['a', 'a-b', 'a']) await other.stage(headerFor(id))
    const drafts = async () => (await readdir(root)).filter((name) => name.startsWith('.new-'))
    const [dead = '', alive = ''] = (await drafts()).filter((name) => /^\.new-a-[^-]*$/.test(name))
    await rename(join(root, dead, 'lease.db'), join(root, dead, 'lease.db-of-nobody'))
    await makeOld('a', 1)
    await fixture.store.delete('a')
    const left = await drafts()
    expect(left).toHaveLength(2)
    expect(left).toContain(alive)
  })

  it('passes over what is another user’s, names it, and does the rest', async () => {
    for (const id of ['a', 'b', 'c']) await makeOld(id, 100)
    const foreign = ['.trash-foreign-1', '.new-foreign-1', 'b/blobs', 'c/aside']
    for (const name of foreign) await mkdir(join(root, name), { recursive: true })
    await utimes(join(root, '.new-foreign-1'), daysAgo(2), daysAgo(2))
    await mkdir(join(root, '.trash-mine-1'))
    const collector = fixture.another({
      io: forbidding(
        hastyIo,
        foreign.map((name) => join(root, name)),
      ),
    })
    const collected = await collector.upkeep!.collect({ maxAgeDays: 30 })
    expect(collected.sessions.map(({ id }) => id)).toEqual(['a'])
    const refused = ['.trash-foreign-1', '.new-foreign-1', 'b', 'c']
    expect(collected.refused).toEqual(
      expect.arrayContaining(refused.map((name) => join(root, name))),
    )
    expect(collected.refused).toHaveLength(4)
    expect((await readdir(root)).sort()).toEqual(['.collected', ...refused].sort())
  })

  it('deletes a session where another one could not be, and says when its own cannot be', async () => {
    await mkdir(join(root, '.trash-foreign-1'), { recursive: true })
    for (const id of ['a', 'b']) await makeOld(id, 1)
    const io = forbidding(hastyIo, [join(root, '.trash-foreign-1'), join(root, '.trash-b')])
    const store = fixture.another({ io })
    await store.delete('a')
    await expect(store.delete('b')).rejects.toMatchObject({
      code: 'STORE_REMOVE_FAILED',
      message: expect.stringContaining(join(root, '.trash-b')),
    })
    expect(await ids()).toEqual([])
  })

  it('is not misled by clocks that were wrong, far behind or far ahead', async () => {
    const [past, future] = [new Date(-day), daysAgo(-30_000)]
    const createdAt = Date.now()
    const make = async (id: string, header: { createdAt: number }, time: Date) => {
      const log = await fixture.store.create(headerFor(id, header))
      await log.append([factAt(0)], { sync: true })
      await log.close()
      for (const name of await segmentsOf(id)) await utimes(join(root, id, 'log', name), time, time)
    }
    await make('made-today', { createdAt }, past)
    await make('long-ago', { createdAt: -day }, past)
    await make('ahead', { createdAt: -day }, future)
    await make('made-ahead', { createdAt: future.getTime() }, past)
    await mkdir(join(root, '.new-ahead-1'))
    await writeFile(join(root, '.collected'), '')
    for (const name of ['.new-ahead-1', '.collected'])
      await utimes(join(root, name), future, future)
    const collected = await fixture.store.upkeep!.collect({ maxAgeDays: 1, everyMs: day })
    expect(collected).toMatchObject({ sessions: [{ id: 'long-ago' }], leftovers: 1 })
    expect(await ids()).toEqual(['ahead', 'made-today', 'made-ahead'])
    expect(
      (await fixture.store.upkeep!.collect({ maxAgeDays: -1, everyMs: day })).sessions,
    ).toEqual([])
  })

  it('keeps every blob of a log that cannot be read to its end', async () => {
    await makeLong('long')
    const log = await fixture.store.open('long', { mode: 'write' })
    const blob = await log.putBlob(Buffer.from('named by nothing that can be read'))
    await log.close()
    const [, second = ''] = await segmentsOf('long')
    await writeFile(join(root, 'long/log', second), 'rubbish')
    expect(await fixture.store.upkeep!.collect({ blobs: true })).toMatchObject({ blobs: 0 })
    expect(await readdir(join(root, 'long/blobs'))).toEqual([blob])
  })

  it.each([
    ['too old', { maxAgeDays: 30 }],
    ['too much', { maxTotalBytes: 1 }],
    ['both, and nobody keeps what was put away', { maxAgeDays: 30, maxTotalBytes: 1 }],
  ])('keeps a session that was written to after it was chosen as %s', async (_, limits) => {
    const names = ['a', 'b', 'c', 'd']
    for (const id of names) await makeOld(id, 100)
    const later = fixture.another()
    const before = await contentOf('b')
    let taken = false
    // Who is first to lock the first of them finds that another one is gone on with by then.
    const lock: Io['lock'] = async (path, force) => {
      if (!taken && path.includes('/a/')) {
        taken = true
        const log = await later.open('b', { mode: 'write' })
        await log.append([factAt(1)], { sync: true })
        await log.close()
        const archived = await later.open('c', { mode: 'write' })
        const put = { ...sessionArchived({ archived: true }), seq: 1, time: 1 }
        await archived.append([put], { sync: true })
        await archived.close()
        // Looking at one, and owning it without a word, is no reason to keep it.
        await (await later.open('d', { mode: 'write' })).close()
      }
      return hastyIo.lock(path, force)
    }
    const collector = fixture.another({ io: { ...hastyIo, lock } })
    const { sessions } = await collector.upkeep!.collect(limits)
    expect(sessions.map(({ id }) => id)).toEqual(['a', 'd'])
    expect((await readdir(root)).filter((name) => !name.startsWith('.'))).toEqual(['b', 'c'])
    expect((await contentOf('b')).facts).toEqual([...before.facts, factAt(1)])
  })

  it('comes back only after the time it is given, and stops when told to', async () => {
    const upkeep = fixture.store.upkeep!
    await makeOld('old', 100)
    expect((await upkeep.collect({ everyMs: day })).sessions).toEqual([])
    expect((await upkeep.collect({ maxAgeDays: 1, everyMs: day })).sessions).toEqual([])
    const past = daysAgo(2)
    await writeFile(join(root, '.collected'), '')
    await utimes(join(root, '.collected'), past, past)
    const signal = AbortSignal.abort()
    expect((await upkeep.collect({ maxAgeDays: 1, signal })).sessions).toEqual([])
    await utimes(join(root, '.collected'), past, past)
    expect((await upkeep.collect({ maxAgeDays: 1, everyMs: day })).sessions).toHaveLength(1)
  })
})
