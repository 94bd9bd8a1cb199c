import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Io } from '@cordage/core/store'
import { codeOf, factAt, factsFrom, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contentsOf, type Fixture, hastyIo, makeFixture } from './fixtures.ts'

let fixture: Fixture
let hash: string
beforeEach(async () => {
  fixture = await makeFixture({ segmentMaxBytes: 1000 })
  const log = await fixture.store.create(headerFor('parent'))
  hash = await log.putBlob(Buffer.from('a picture'))
  for (let seq = 0; seq < 20; seq++) {
    const snapshot = log.wantsSnapshot ? { snapshot: { seq, state: { seq } } } : {}
    await log.append([factAt(seq)], { sync: false, ...snapshot })
  }
  await log.close()
})
afterEach(() => fixture.dispose())

const childOf = (id: string) => headerFor(id, { parent: { id: 'parent', kind: 'fork', seq: 20 } })
const inodeOf = async (path: string) => (await stat(path)).ino

async function fork(id: string, before: number, io: Io = hastyIo): Promise<void> {
  const log = await fixture.another({ io }).fork('parent', childOf(id), { before })
  expect(await readAll(log)).toEqual(factsFrom(0, before))
  await log.close()
}

async function sharedOf(id: string): Promise<number> {
  const [parent, child] = [await fixture.logFiles('parent'), await fixture.logFiles(id)]
  const inodes = await Promise.all(child.map(inodeOf))
  const known = new Set(await Promise.all(parent.map(inodeOf)))
  return inodes.filter((inode) => known.has(inode)).length
}

describe('a fork', () => {
  it('links every segment that is sealed, and the blobs', async () => {
    const segments = (await fixture.logFiles('parent')).length
    expect(segments).toBeGreaterThan(4)
    await fork('child', 20)
    expect(await sharedOf('child')).toBe(segments - 1)
    const blob = (id: string) => inodeOf(join(fixture.root, 'sessions', id, 'blobs', hash))
    expect(await blob('child')).toBe(await blob('parent'))
    await fork('early', 1)
    expect(await sharedOf('early')).toBe(0)
  })

  it('holds nothing that came after it in its parent', async () => {
    await fork('child', 3)
    const contents = await contentsOf(join(fixture.root, 'sessions/child'))
    const bytes = Object.values(contents).map((content) => Buffer.from(content, 'base64'))
    const parts = bytes.map((content) => content.toString('latin1')).join('')
    expect(parts).toContain('fact 2')
    expect(parts).not.toContain('fact 3')
  })

  it('copies what cannot be linked', async () => {
    const io: Io = {
      ...hastyIo,
      link: async () => {
        throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
      },
    }
    await fork('child', 20, io)
    expect(await sharedOf('child')).toBe(0)
    await rm(join(fixture.root, 'sessions/parent'), { recursive: true })
    const log = await fixture.store.open('child', { mode: 'write' })
    expect(await readAll(log)).toEqual(factsFrom(0, 20))
    expect(Buffer.from(await log.getBlob(hash)).toString()).toBe('a picture')
    await log.close()
  })

  it('that finds no room leaves nothing behind', async () => {
    const io: Io = {
      ...hastyIo,
      async open(path, mode) {
        const file = await hastyIo.open(path, mode)
        const write = async (): Promise<never> => {
          throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
        }
        return mode === 'create' ? { ...file, write } : file
      },
    }
    const store = fixture.another({ io })
    const code = await codeOf(store.fork('parent', childOf('child'), { before: 20 }))
    expect(code).toBe('STORE_WRITE_FAILED')
    expect(await readdir(join(fixture.root, 'sessions'))).toEqual(['parent'])
  })

  it('notices when a segment that it shares is damaged or taken from another session', async () => {
    await fork('child', 20)
    const other = await fixture.store.create(headerFor('other'))
    for (let seq = 0; seq < 20; seq++) await other.append([factAt(seq)], { sync: false })
    await other.close()
    const [, second = ''] = await fixture.logFiles('child')
    const [, foreign = ''] = await fixture.logFiles('other')
    const bytes = await readFile(foreign)
    await rm(second)
    await writeFile(second, bytes)
    const log = await fixture.store.open('child', { mode: 'write' })
    expect(await codeOf(readAll(log))).toBe('STORE_DAMAGED')
    await log.close()
    const parent = await fixture.store.open('parent', { mode: 'read' })
    expect(await readAll(parent)).toEqual(factsFrom(0, 20))
  })
})

describe('a log that is packed', () => {
  it('is read on by whoever was in the middle of it', async () => {
    const view = await fixture.store.open('parent', { mode: 'read' })
    const seqs: number[] = []
    for await (const { seq } of view.read(0)) {
      seqs.push(seq)
      if (seq === 2) await fixture.store.upkeep?.pack('parent')
    }
    expect(seqs).toEqual(factsFrom(0, 20).map(({ seq }) => seq))
    expect(await fixture.logFiles('parent')).toHaveLength(1)
    await view.close()
  })

  it('leaves the sessions that share its segments as they are', async () => {
    await fork('child', 20)
    await fixture.store.upkeep?.pack('parent')
    expect(await sharedOf('child')).toBe(0)
    for (const id of ['child', 'parent']) {
      const log = await fixture.store.open(id, { mode: 'write' })
      expect(await readAll(log), id).toEqual(factsFrom(0, 20))
      await log.close()
    }
    await fork('later', 20)
    await fixture.store.upkeep?.pack('child')
    const child = await fixture.store.open('child', { mode: 'write' })
    expect(child.header).toEqual(childOf('child'))
    expect(await readAll(child)).toEqual(factsFrom(0, 20))
    await child.close()
  })
})
