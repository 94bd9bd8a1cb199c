import type { SessionHeader } from '@cordage/core/session'
import type { SessionLog, Store } from '@cordage/core/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  codeOf,
  factAt,
  factsFrom,
  headerFor,
  readAll,
  type StoreUnderTest,
  type UseStore,
} from './store-fixture.ts'
import { forkCases, forkEdgeCases, salvageCases } from './store-fork-cases.ts'
import { listCases, wordCases } from './store-list-cases.ts'
import { stageCases } from './store-stage-cases.ts'
import { viewCases } from './store-view-cases.ts'

/** What every `ctx.store` must do. Call it at the top of a test file. */
export function storeContract(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the store contract`, () => {
    let made: StoreUnderTest
    beforeEach(async () => {
      made = await makeStore()
    })
    afterEach(() => made.dispose())
    const use = () => made

    describe('facts', () => factCases(use))
    describe('names', () => {
      nameCases(use)
      idCases(use)
    })
    describe('owners', () => ownerCases(use))
    describe('snapshots', () => snapshotCases(use))
    describe('contents', () => contentCases(use))
    describe('blobs and the live lane', () => sideCases(use))
    describe('stages', () => stageCases(use))
    describe('forks', () => {
      forkCases(use)
      forkEdgeCases(use)
    })
    describe('views', () => viewCases(use))
    describe('salvage', () => salvageCases(use))
    describe('the list', () => {
      listCases(use)
      wordCases(use)
    })
  })
}

async function reopen(store: Store, log: SessionLog): Promise<SessionLog> {
  await log.close()
  return store.open(log.header.id, { mode: 'write' })
}

function factCases(use: UseStore): void {
  it('reads back what was appended, in order, before and after reopening', async () => {
    const { store } = use()
    const log = await store.create(headerFor('one'))
    await log.append(factsFrom(0, 3), { sync: true })
    await log.append(factsFrom(3, 1), { sync: false })
    expect(await readAll(log)).toEqual(factsFrom(0, 4))
    const again = await reopen(store, log)
    expect(again.header).toEqual(headerFor('one'))
    expect(again.tail).toEqual(factsFrom(0, 4))
    expect(await readAll(again)).toEqual(factsFrom(0, 4))
    expect(await readAll(again, 2)).toEqual(factsFrom(2, 2))
    expect(await readAll(again, 4)).toEqual([])
    expect(again.notices).toEqual([])
    await again.close()
  })

  it('opens a session that has no facts yet', async () => {
    const { store } = use()
    const again = await reopen(store, await store.create(headerFor('empty')))
    expect(again.tail).toEqual([])
    expect(again.snapshot).toBeUndefined()
    await again.append(factsFrom(0, 1), { sync: true })
    expect(await readAll(again)).toEqual(factsFrom(0, 1))
    await again.close()
  })

  it('writes batches in call order when nobody waits', async () => {
    const { store } = use()
    const log = await store.create(headerFor('order'))
    const work = Array.from({ length: 50 }, (_, seq) => {
      return log.append([factAt(seq, { text: 'x'.repeat((50 - seq) * 100) })], {
        sync: seq % 2 === 0,
      })
    })
    await Promise.all(work)
    expect((await readAll(log)).map(({ seq }) => seq)).toEqual([...Array(50).keys()])
    await log.close()
  })

  it('goes on where it stopped over several openings', async () => {
    const { store } = use()
    let log = await store.create(headerFor('many'))
    for (let round = 0; round < 5; round++) {
      await log.append(factsFrom(round * 2, 2), { sync: true })
      log = await reopen(store, log)
    }
    expect(await readAll(log)).toEqual(factsFrom(0, 10))
    await log.close()
  })

  it('keeps 1,000 small appends', async () => {
    const { store } = use()
    const log = await store.create(headerFor('small'))
    for (let seq = 0; seq < 1000; seq++) await log.append([factAt(seq)], { sync: false })
    const again = await reopen(store, log)
    expect(again.tail).toEqual(factsFrom(0, 1000))
    await again.close()
  })
}

function nameCases(use: UseStore): void {
  it('does not know a session that was never made', async () => {
    const { store } = use()
    for (const id of ['nobody', '../nobody', '', '.', '..', 'a/b', '/etc', 'a\0b']) {
      expect(await codeOf(store.open(id, { mode: 'write' })), id).toBe('SESSION_NOT_FOUND')
      expect(await codeOf(store.open(id, { mode: 'read' })), id).toBe('SESSION_NOT_FOUND')
      expect(await codeOf(store.delete(id)), id).toBe('SESSION_NOT_FOUND')
    }
  })

  it('does not make the same session twice', async () => {
    const { store } = use()
    const log = await store.create(headerFor('twice'))
    await log.append(factsFrom(0, 1), { sync: true })
    expect(await codeOf(store.create(headerFor('twice')))).toBe('STORE_ID_TAKEN')
    await log.close()
    expect(await codeOf(store.create(headerFor('twice')))).toBe('STORE_ID_TAKEN')
    const again = await store.open('twice', { mode: 'read' })
    expect(await readAll(again)).toEqual(factsFrom(0, 1))
    await again.close()
  })
}

function idCases(use: UseStore): void {
  it('makes no session of an id that cannot be the name of a folder', async () => {
    const { store } = use()
    for (const id of [
      '',
      '.',
      '..',
      '../up',
      'a/b',
      'a b',
      '-x',
      '.x',
      'a\0',
      'ä',
      'x'.repeat(101),
    ]) {
      expect(await codeOf(store.create(headerFor(id))), id).toBe('STORE_ID_INVALID')
    }
    for (const id of ['x'.repeat(100), '7', 'A.b-c_d']) {
      await (await store.create(headerFor(id))).close()
    }
    expect(await store.list()).toHaveLength(3)
  })
}

function ownerCases(use: UseStore): void {
  it('refuses a second writer until the first has closed', async () => {
    const { store } = use()
    const log = await store.create(headerFor('busy'))
    expect(await codeOf(store.open('busy', { mode: 'write' }))).toBe('SESSION_BUSY')
    await log.close()
    await log.close()
    const next = await store.open('busy', { mode: 'write' })
    expect(await codeOf(store.open('busy', { mode: 'write' }))).toBe('SESSION_BUSY')
    await next.close()
  })

  it('gives one of two openers the session, never both', async () => {
    const { store } = use()
    await (await store.create(headerFor('race'))).close()
    const both = await Promise.allSettled([
      store.open('race', { mode: 'write' }),
      store.open('race', { mode: 'write' }),
    ])
    const logs = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(logs).toHaveLength(1)
    await logs[0]?.close()
  })

  it('gives a view for reading while somebody owns the session', async () => {
    const { store } = use()
    const log = await store.create(headerFor('view'))
    await log.append(factsFrom(0, 2), { sync: true })
    const view = await store.open('view', { mode: 'read' })
    expect(view.mode).toBe('read')
    expect(view.tail).toEqual(factsFrom(0, 2))
    expect(view.notices).toEqual([])
    await log.append(factsFrom(2, 1), { sync: true })
    expect(await readAll(view)).toEqual(factsFrom(0, 3))
    await expect(async () => view.append(factsFrom(3, 1), { sync: true })).rejects.toThrow()
    await view.close()
    await log.append(factsFrom(3, 1), { sync: true })
    expect(await readAll(log)).toEqual(factsFrom(0, 4))
    await log.close()
  })

  it('refuses what another process owns, until that one ends', async (test) => {
    const { store, ownElsewhere } = use()
    if (!ownElsewhere) return test.skip('the store lives in one process')
    await (await store.create(headerFor('apart'))).close()
    const end = await ownElsewhere('apart')
    expect(await codeOf(store.open('apart', { mode: 'write' }))).toBe('SESSION_BUSY')
    expect(await codeOf(store.delete('apart'))).toBe('SESSION_BUSY')
    await (await store.open('apart', { mode: 'read' })).close()
    await end()
    await (await store.open('apart', { mode: 'write' })).close()
  })

  it('deletes a session that nobody owns, and only that', async () => {
    const { store } = use()
    await (await store.create(headerFor('kept'))).close()
    const log = await store.create(headerFor('gone'))
    expect(await codeOf(store.delete('gone'))).toBe('SESSION_BUSY')
    await log.append(factsFrom(0, 1), { sync: true })
    await log.close()
    await store.delete('gone')
    expect(await codeOf(store.open('gone', { mode: 'read' }))).toBe('SESSION_NOT_FOUND')
    expect((await store.list()).map(({ header }) => header.id)).toEqual(['kept'])
    await (await store.create(headerFor('gone'))).close()
  })
}

function snapshotCases(use: UseStore): void {
  it('opens from the last snapshot that it was given, with the rest as its tail', async () => {
    const { store } = use()
    let log = await store.create(headerFor('snap'))
    await log.append(factsFrom(0, 3), { sync: true })
    for (const seq of [3, 4, 5]) {
      log = await reopen(store, log)
      const snapshot = { seq, state: { folded: seq, text: '你好 \ud800' } }
      await log.append([factAt(seq)], {
        sync: true,
        ...(log.wantsSnapshot ? { snapshot } : {}),
      })
    }
    log = await reopen(store, log)
    const from = log.snapshot?.seq ?? 0
    if (log.snapshot) expect(log.snapshot.state).toEqual({ folded: from, text: '你好 \ud800' })
    expect(log.tail).toEqual(factsFrom(from, 6 - from))
    expect(await readAll(log)).toEqual(factsFrom(0, 6))
    await log.close()
  })

  it('loses nothing when no snapshot is ever given', async () => {
    const { store } = use()
    let log = await store.create(headerFor('bare'))
    for (let seq = 0; seq < 4; seq++) {
      await log.append([factAt(seq)], { sync: true })
      log = await reopen(store, log)
    }
    expect(log.tail).toEqual(factsFrom(0, 4))
    await log.close()
  })
}

function contentCases(use: UseStore): void {
  const contents: Record<string, unknown> = {
    Chinese: { text: '你好，世界。修复这个错误', 键: '值' },
    'emoji and combining marks': { text: '👩‍👩‍👧‍👦 é e\u0301 \u202Eright to left' },
    'lone surrogates': { text: 'a\ud800b\udc00c', 'key\udfff': 1 },
    'control characters and line ends': { text: '\0\u0001\r\n\n\u2028\u2029\u007f\ufeff' },
    'what looks like the format itself': {
      text: '["cordage","00"]\n{"seq":0}\n',
      list: ['cordage'],
    },
    'every JSON value': { a: null, b: true, c: -0.5e-7, d: [], e: {}, f: [[1, [2]]], g: '' },
    'a bare value': 'just text',
  }
  for (const [what, data] of Object.entries(contents)) {
    it(`keeps ${what}`, async () => {
      const { store } = use()
      const log = await store.create(headerFor('text', { project: '/项目/\ud800' }))
      await log.append([factAt(0, data), factAt(1)], { sync: true })
      const again = await reopen(store, log)
      expect(again.tail).toEqual([factAt(0, data), factAt(1)])
      expect(again.header.project).toBe('/项目/\ud800')
      await again.close()
    })
  }

  it('keeps types, versions and members that it does not know', async () => {
    const { store } = use()
    const strange = {
      ...factAt(0),
      type: '@somebody/plugin/strange',
      v: 99,
      extra: { nested: ['kept'] },
    }
    const log = await store.create({ ...headerFor('strange'), later: 'kept' } as SessionHeader)
    await log.append([strange], { sync: true })
    const again = await reopen(store, log)
    expect(again.tail).toEqual([strange])
    expect(again.header).toMatchObject({ later: 'kept' })
    await again.close()
  })

  // Nobody's limit for small tests may fail a store that is sound.
  it('keeps a fact of 5 MB, and one that is all the same', { timeout: 60_000 }, async () => {
    const { store } = use()
    const noise = Uint32Array.from({ length: 1_000_000 }, (_, index) =>
      Math.imul(index, 2654435761),
    )
    const text = Buffer.from(noise.buffer).toString('base64')
    const large = [factAt(0, { text }), factAt(1, { text: 'a'.repeat(5_000_000) })]
    const log = await store.create(headerFor('large'))
    for (const fact of large) await log.append([fact], { sync: true })
    await log.append([factAt(2)], { sync: true })
    const again = await reopen(store, log)
    expect(await readAll(again)).toEqual([...large, factAt(2)])
    await again.close()
  })
}

function sideCases(use: UseStore): void {
  it('gives blobs back by what is in them', async () => {
    const { store } = use()
    const log = await store.create(headerFor('blobs'))
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251)
    const hash = await log.putBlob(bytes)
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(await log.putBlob(bytes)).toBe(hash)
    const empty = await log.putBlob(new Uint8Array())
    const again = await reopen(store, log)
    expect(Buffer.from(await again.getBlob(hash)).equals(bytes)).toBe(true)
    expect(await again.getBlob(empty)).toHaveLength(0)
    for (const unknown of ['0'.repeat(64), '../../header', '']) {
      expect(await codeOf(again.getBlob(unknown)), unknown).toBe('BLOB_MISSING')
    }
    await again.close()
  })

  it('gives the next owner what the live lane held, until it is rotated', async () => {
    const { store } = use()
    let log = await store.create(headerFor('live'))
    log.appendLive([{ text: 'lost' }])
    log.rotateLive()
    log.appendLive([{ text: '你' }, { text: 'b' }])
    log.appendLive([{ text: 'c' }])
    log = await reopen(store, log)
    expect(log.live).toEqual([{ text: '你' }, { text: 'b' }, { text: 'c' }])
    log.rotateLive()
    log = await reopen(store, log)
    expect(log.live).toEqual([])
    await log.close()
  })
}
