import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Io, IoFile } from '@cordage/core/store'
import { codeOf, factAt, factsFrom, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contentsOf, type Fixture, hastyIo, makeFixture } from './fixtures.ts'
import { asFormat, stepFromZero, toZero } from './formats.ts'

const steps = [stepFromZero]
const strange = { ...factAt(9), type: '@somebody/plugin/strange', v: 99, extra: { kept: ['too'] } }
const facts = [...factsFrom(0, 9), strange]

let fixture: Fixture
let folder: string
beforeEach(async () => {
  fixture = await makeFixture({ steps })
  folder = join(fixture.root, 'sessions/old')
  const log = await fixture.store.create(headerFor('old'))
  await log.append(facts.slice(0, 4), { sync: true })
  await log.close()
  const again = await fixture.store.open('old', { mode: 'write' })
  await again.append(facts.slice(4, 9), { sync: true, snapshot: { seq: 4, state: 'of old' } })
  await again.append(facts.slice(9), { sync: true })
  await again.close()
})
afterEach(() => fixture.dispose())

describe('a log of an older format', () => {
  beforeEach(() => asFormat(folder, 0, toZero))

  it('is read as the present one, and nothing of it changes', async () => {
    const before = await contentsOf(folder)
    const view = await fixture.store.open('old', { mode: 'read' })
    expect(view.header).toEqual(headerFor('old'))
    expect([view.snapshot, view.notices]).toEqual([undefined, []])
    expect(view.tail).toEqual(facts)
    expect(await readAll(view)).toEqual(facts)
    expect(await readAll(view, 6)).toEqual(facts.slice(6))
    await view.close()
    const salvage = await fixture.store.salvage('old')
    const left = []
    for await (const fact of salvage.facts) left.push(fact)
    expect([left, salvage.header, salvage.missing]).toEqual([facts, headerFor('old'), []])
    expect(await contentsOf(folder)).toEqual(before)
  })

  it('is forked into one of the present format', async () => {
    const log = await fixture.store.fork('old', headerFor('child'), { before: 6 })
    expect(await readAll(log)).toEqual(facts.slice(0, 6))
    await log.close()
    await rm(folder, { recursive: true })
    const plain = fixture.another({ steps: [] })
    const again = await plain.open('child', { mode: 'write' })
    expect(await readAll(again)).toEqual(facts.slice(0, 6))
    await again.close()
  })

  it('is written anew before it is added to, and the old one is kept', async () => {
    const before = await contentsOf(join(folder, 'log'))
    const log = await fixture.store.open('old', { mode: 'write' })
    expect(log.header).toEqual(headerFor('old'))
    expect(log.tail).toEqual(facts)
    await log.append([factAt(10)], { sync: true, snapshot: { seq: 10, state: 'new' } })
    await log.close()
    expect(await contentsOf(join(folder, 'log.format-0'))).toEqual(before)
    const plain = fixture.another({ steps: [] })
    const again = await plain.open('old', { mode: 'write' })
    expect(again.snapshot).toEqual({ seq: 10, state: 'new' })
    expect(await readAll(again)).toEqual([...facts, factAt(10)])
    await again.close()
    expect((await readdir(folder)).filter((name) => name.startsWith('log'))).toEqual([
      'log',
      'log.format-0',
    ])
  })

  it('that nothing here reads any more is refused, and stays as it is', async () => {
    const plain = fixture.another({ steps: [] })
    const before = await contentsOf(folder)
    expect(await codeOf(plain.open('old', { mode: 'write' }))).toBe('STORE_DAMAGED')
    expect(await codeOf(plain.open('old', { mode: 'read' }))).toBe('STORE_DAMAGED')
    expect(await contentsOf(folder)).toEqual(before)
  })
})

describe('a migration', () => {
  beforeEach(() => asFormat(folder, 0, toZero))

  it('that does not read back what it wrote leaves the old log', async () => {
    const before = await contentsOf(join(folder, 'log'))
    let wrong = 0
    const io: Io = {
      ...hastyIo,
      async open(path, mode) {
        const file = await hastyIo.open(path, mode)
        if (!path.includes('log.next') || mode !== 'create') return file
        const write: IoFile['write'] = (bytes, position) => {
          const copy = Uint8Array.from(bytes)
          copy[copy.length - 3] = (copy[copy.length - 3] ?? 0) ^ 1
          wrong += 1
          return file.write(copy, position)
        }
        return { ...file, write }
      },
    }
    const code = await codeOf(fixture.another({ io }).open('old', { mode: 'write' }))
    expect(code).toMatch(/^STORE_(DAMAGED|WRITE_FAILED)$/)
    expect(wrong).toBeGreaterThan(0)
    expect(await contentsOf(join(folder, 'log'))).toEqual(before)
    const log = await fixture.store.open('old', { mode: 'write' })
    expect(await readAll(log)).toEqual(facts)
    await log.close()
  })
})

describe('a log of a newer format', () => {
  it('can be looked at where it is laid out as this one, and says why no more', async () => {
    await asFormat(folder, 2)
    const before = await contentsOf(folder)
    const { store } = fixture
    const view = await store.open('old', { mode: 'read' })
    expect(view.notices).toEqual([expect.stringMatching(/^Written in format 2.*Upgrade/)])
    expect(await readAll(view)).toEqual(facts)
    await view.close()
    expect((await store.list())[0]).toMatchObject({ header: headerFor('old') })
    expect(await codeOf(store.open('old', { mode: 'write' }))).toBe('STORE_FORMAT_NEWER')
    expect(await codeOf(store.salvage('old'))).toBe('STORE_FORMAT_NEWER')
    const fork = store.fork('old', headerFor('child'), { before: 5 })
    expect(await codeOf(fork)).toBe('STORE_FORMAT_NEWER')
    expect(await store.list()).toHaveLength(1)
    expect(await contentsOf(folder)).toEqual(before)
  })

  it('laid out in another way is refused with that word, and stays in the list', async () => {
    await asFormat(folder, 2, { meta: { kind: 'parcel', size: 'large' } })
    const before = await contentsOf(folder)
    const { store } = fixture
    for (const mode of ['read', 'write'] as const) {
      expect(await codeOf(store.open('old', { mode })), mode).toBe('STORE_FORMAT_NEWER')
    }
    expect((await store.list())[0]?.damaged).toContain('format 2')
    expect(await codeOf(store.salvage('old'))).toBe('STORE_FORMAT_NEWER')
    expect(await contentsOf(folder)).toEqual(before)
  })
})
