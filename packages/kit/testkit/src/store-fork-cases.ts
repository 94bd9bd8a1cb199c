import type { Fact } from '@cordage/core/session'
import type { Store } from '@cordage/core/store'
import { expect, it } from 'vitest'
import { codeOf, factAt, factsFrom, headerFor, readAll, type UseStore } from './store-fixture.ts'

const childOf = (id: string, seq: number) => ({ parent: { id, kind: 'fork', seq } }) as const

/** A session over several segments, each begun with a snapshot. */
async function grow(store: Store, id: string, counts: readonly number[]): Promise<void> {
  let seq = 0
  let log = await store.create(headerFor(id))
  for (const count of counts) {
    const snapshot = log.wantsSnapshot ? { snapshot: { seq, state: { folded: seq } } } : {}
    await log.append(factsFrom(seq, count), { sync: true, ...snapshot })
    seq += count
    await log.close()
    log = await store.open(id, { mode: 'write' })
  }
  await log.close()
}

async function checkOpened(store: Store, id: string, facts: readonly Fact[]): Promise<void> {
  const view = await store.open(id, { mode: 'read' })
  const from = view.snapshot?.seq ?? 0
  if (view.snapshot) expect(view.snapshot.state).toEqual({ folded: from })
  expect([view.notices, view.header.id]).toEqual([[], id])
  expect(view.tail).toEqual(facts.slice(from))
  expect(await readAll(view)).toEqual(facts)
  await view.close()
}

export function forkCases(use: UseStore): void {
  it('begins with what is before the boundary, wherever that is', async () => {
    const { store } = use()
    await grow(store, 'parent', [3, 2, 4])
    for (let before = 0; before <= 9; before++) {
      const id = `child-${before}`
      const header = headerFor(id, childOf('parent', before))
      const log = await store.fork('parent', header, { before })
      expect(log.header).toEqual(header)
      expect(await readAll(log)).toEqual(factsFrom(0, before))
      const own = factAt(before, { text: 'mine' })
      await log.append([own], { sync: true })
      await log.close()
      await checkOpened(store, id, [...factsFrom(0, before), own])
    }
    await checkOpened(store, 'parent', factsFrom(0, 9))
    const listed = await store.list()
    expect(listed.filter(({ damaged }) => damaged !== undefined)).toEqual([])
    expect(listed).toHaveLength(11)
  })

  it('forks forks, and each stays whole when the others are deleted', async () => {
    const { store } = use()
    await grow(store, 'a', [3, 3])
    const blob = Buffer.from('a picture')
    const owner = await store.open('a', { mode: 'write' })
    const hash = await owner.putBlob(blob)
    await owner.close()
    for (const [from, to, before] of [
      ['a', 'b', 5],
      ['b', 'c', 6],
      ['c', 'd', 7],
    ] as const) {
      const log = await store.fork(from, headerFor(to, childOf(from, before)), { before })
      await log.append([factAt(before)], { sync: true })
      await log.close()
    }
    for (const gone of ['b', 'a', 'c']) {
      await store.delete(gone)
      await checkOpened(store, 'd', factsFrom(0, 8))
    }
    const last = await store.open('d', { mode: 'write' })
    expect(Buffer.from(await last.getBlob(hash))).toEqual(blob)
    await last.append([factAt(8)], { sync: true })
    await last.close()
    await checkOpened(store, 'd', factsFrom(0, 9))
  })

  it('forks a session that somebody owns and writes to', async () => {
    const { store } = use()
    const owner = await store.create(headerFor('owned'))
    await owner.append(factsFrom(0, 4), { sync: true })
    const log = await store.fork('owned', headerFor('side'), { before: 3 })
    await owner.append(factsFrom(4, 1), { sync: true })
    await log.append([factAt(3, 'side')], { sync: true })
    await owner.append(factsFrom(5, 1), { sync: true })
    expect(await readAll(log)).toEqual([...factsFrom(0, 3), factAt(3, 'side')])
    expect(await readAll(owner)).toEqual(factsFrom(0, 6))
    expect(await codeOf(store.open('side', { mode: 'write' }))).toBe('SESSION_BUSY')
    await log.close()
    await owner.close()
  })
}

export function forkEdgeCases(use: UseStore): void {
  it('keeps types, versions and members that it does not know', async () => {
    const { store } = use()
    const strange = { ...factAt(0), type: '@somebody/plugin/strange', v: 99, extra: ['kept'] }
    const owner = await store.create(headerFor('strange'))
    await owner.append([strange], { sync: true })
    const log = await store.fork('strange', headerFor('copy'), { before: 1 })
    expect(await readAll(log)).toEqual([strange])
    await log.close()
    await owner.close()
  })

  it('makes nothing of a wrong name, or of more facts than there are', async () => {
    const { store } = use()
    await grow(store, 'few', [2])
    const before = { before: 2 }
    expect(await codeOf(store.fork('nobody', headerFor('x'), before))).toBe('SESSION_NOT_FOUND')
    expect(await codeOf(store.fork('few', headerFor('few'), before))).toBe('STORE_ID_TAKEN')
    expect(await codeOf(store.fork('few', headerFor('../x'), before))).toBe('STORE_ID_INVALID')
    expect(await codeOf(store.fork('few', headerFor('x'), { before: 3 }))).toBe('STORE_DAMAGED')
    expect((await store.list()).map(({ header }) => header.id)).toEqual(['few'])
  })
}

export function salvageCases(use: UseStore): void {
  it('gives back everything of a session that is whole', async () => {
    const { store } = use()
    await grow(store, 'whole', [2, 3])
    const owner = await store.open('whole', { mode: 'write' })
    await owner.putBlob(Buffer.from('a picture'))
    const salvage = await store.salvage('whole')
    const facts: Fact[] = []
    for await (const fact of salvage.facts) facts.push(fact)
    const blobs: Buffer[] = []
    for await (const bytes of salvage.blobs) blobs.push(Buffer.from(bytes))
    expect(salvage.header).toEqual(headerFor('whole'))
    expect(facts).toEqual(factsFrom(0, 5))
    expect([salvage.missing, salvage.lostBlobs]).toEqual([[], []])
    expect(blobs.map(String)).toEqual(['a picture'])
    await owner.close()
    expect(await codeOf(store.salvage('nobody'))).toBe('SESSION_NOT_FOUND')
  })
}
