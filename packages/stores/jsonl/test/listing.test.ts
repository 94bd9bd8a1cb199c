import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRoot, mount } from '@cordage/core/kernel'
import { textMessage } from '@cordage/core/message'
import { SessionFold, sessionTitle, userMessage, type NewFact } from '@cordage/core/session'
import type { Io, IoFile, SessionLog } from '@cordage/core/store'
import { codeOf, factAt, factsFrom, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import plugin from '../src/index.ts'
import { type Fixture, hastyIo, makeFixture } from './fixtures.ts'

let fixture: Fixture
let sessions: string
beforeEach(async () => {
  fixture = await makeFixture()
  sessions = join(fixture.root, 'sessions')
})
afterEach(() => fixture.dispose())

describe('a root with strange things in it', () => {
  it('lists every session, the damaged ones as such, and ignores the rest', async () => {
    for (const id of ['good', 'header', 'empty', 'moved', 'late']) {
      const log = await fixture.store.create(headerFor(id))
      await log.append(factsFrom(0, 1), { sync: true })
      await log.close()
    }
    await writeFile(join(sessions, 'header/log/000001.jsonl.zst'), 'rubbish')
    await writeFile(join(sessions, 'empty/log/000001.jsonl.zst'), '')
    await rename(join(sessions, 'moved'), join(sessions, 'elsewhere'))
    await symlink(join(sessions, 'good'), join(sessions, 'link'))
    await symlink(join(sessions, 'nowhere'), join(sessions, 'dangling'))
    await symlink('/dev/zero', join(sessions, 'good/log/000009.jsonl.zst'))
    await writeFile(join(sessions, 'good/log/notes.txt'), 'mine')
    await writeFile(join(sessions, 'stray.jsonl'), '{}')
    await mkdir(join(sessions, 'folder/of/somebody'), { recursive: true })
    await mkdir(join(sessions, '.new-half/log'), { recursive: true })
    await mkdir(join(sessions, 'nothing/log'), { recursive: true })
    await mkdir(join(sessions, 'odd name/log'), { recursive: true })

    const listed = await fixture.store.list()
    const seen = Object.fromEntries(listed.map(({ header, damaged }) => [header.id, damaged]))
    expect(seen).toEqual({
      good: undefined,
      late: undefined,
      header: expect.stringContaining('segment 1'),
      empty: expect.stringContaining('segment 1'),
      elsewhere: 'its folder is called elsewhere but holds session moved',
      nothing: 'it holds no segment',
    })
    expect(await fixture.store.list({ project: '/project' })).toHaveLength(6)
    const log = await fixture.store.open('good', { mode: 'write' })
    expect(await readAll(log)).toEqual(factsFrom(0, 1))
    await log.close()
    for (const id of ['header', 'empty', 'elsewhere', 'nothing']) {
      expect(await codeOf(fixture.store.open(id, { mode: 'write' })), id).toBe('STORE_DAMAGED')
      expect(await codeOf(fixture.store.open(id, { mode: 'read' })), id).toBe('STORE_DAMAGED')
      await fixture.store.delete(id)
    }
    expect(await codeOf(fixture.store.delete('folder'))).toBe('SESSION_NOT_FOUND')
    expect(await codeOf(fixture.store.delete('link'))).toBe('SESSION_NOT_FOUND')
    expect(await fixture.store.list()).toHaveLength(2)
  })

  it('finds the header in a later segment when the first is damaged', async () => {
    await (await fixture.store.create(headerFor('later'))).close()
    const log = await fixture.store.open('later', { mode: 'write' })
    await log.append(factsFrom(0, 1), { sync: true, snapshot: { seq: 0, state: {} } })
    await log.close()
    await writeFile(join(sessions, 'later/log/000001.jsonl.zst'), 'rubbish')
    const [summary] = await fixture.store.list()
    expect(summary).toMatchObject({ header: headerFor('later') })
    const again = await fixture.store.open('later', { mode: 'write' })
    expect(again.tail).toEqual(factsFrom(0, 1))
    await again.close()
  })
})

describe('the words of a session in the list', () => {
  const title = (text: string) => sessionTitle({ title: text, by: 'user' })
  const typed = (text: string) =>
    userMessage({ message: textMessage('1', 'user', text, { kind: 'user' }) })
  const appendTo = async (log: SessionLog, from: number, facts: readonly NewFact[]) => {
    const placed = facts.map((fact, index) => ({ ...fact, seq: from + index, time: 5 }))
    for (const fact of placed) await log.append([fact], { sync: false })
  }
  const listed = async () => {
    const [only] = await fixture.store.list()
    return { title: only?.title, firstWords: only?.firstWords, damaged: only?.damaged }
  }
  /** Text that no compression makes small. */
  const noise = (length: number) => randomBytes(length / 2).toString('hex')

  it('has the title of the newest segment, which its snapshot holds', async () => {
    const log = await fixture.store.create(headerFor('renamed'))
    await appendTo(log, 0, [title('old'), typed('hello'), typed(noise(400_000)), title('new')])
    expect(await listed()).toMatchObject({ title: 'old', firstWords: 'hello' })
    await log.close()
    const fold = new SessionFold()
    const reopened = await fixture.store.open('renamed', { mode: 'write' })
    for (const fact of reopened.tail) fold.add(fact)
    const snapshot = { seq: 4, state: JSON.parse(JSON.stringify(fold.snapshot())) as unknown }
    await reopened.append([{ ...factAt(4) }], { sync: true, snapshot })
    const more = { firstWords: 'hello', damaged: undefined }
    // The snapshot holds the large message: it is stepped over, not read.
    expect(await listed()).toEqual({ title: 'new', ...more })
    await reopened.close()
    const small = await fixture.store.open('renamed', { mode: 'write' })
    const state = { ...fold.snapshot(), surface: [] }
    await small.append([factAt(5)], { sync: true, snapshot: { seq: 5, state } })
    expect(await listed()).toEqual({ title: 'new', ...more })
    await appendTo(small, 6, [title('newest')])
    expect(await listed()).toEqual({ title: 'newest', ...more })
    await small.close()
  })

  it('survives what is not readable, and never asks for more than the beginnings', async () => {
    const log = await fixture.store.create(headerFor('torn'))
    await appendTo(log, 0, [typed('hello'), ...Array<NewFact>(20).fill(typed(noise(40_000)))])
    await log.close()
    const path = join(sessions, 'torn/log/000001.jsonl.zst')
    const whole = await readFile(path)
    for (const length of [whole.length - 10, 100_000, 70_000]) {
      await truncate(path, length)
      expect(await listed(), String(length)).toMatchObject({ firstWords: 'hello' })
    }
    let read = 0
    const counting: Io = {
      ...hastyIo,
      async open(file, mode) {
        const opened = await hastyIo.open(file, mode)
        const counted: IoFile['read'] = async (into, position) => {
          const count = await opened.read(into, position)
          read += count
          return count
        }
        return { ...opened, read: counted }
      },
    }
    await writeFile(path, whole)
    expect(await fixture.another({ io: counting }).list()).toHaveLength(1)
    expect(read).toBeLessThan(100_000)
    for (let at = 2_000; at < 4_000; at += 500) {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ 1
      await writeFile(path, bytes)
      expect(await listed(), String(at)).toMatchObject({ firstWords: 'hello' })
    }
    const refusing: Io = {
      ...hastyIo,
      open: async (file, mode) => {
        read += 1
        if (read % 2 === 1) return hastyIo.open(file, mode)
        throw Object.assign(new Error('EIO'), { code: 'EIO' })
      },
    }
    read = 0
    const [refused] = await fixture.another({ io: refusing }).list()
    expect(refused).toMatchObject({ header: headerFor('torn') })
    expect(refused).not.toHaveProperty('firstWords')
  })
})

describe('the plugin', () => {
  it('keeps sessions in the home of the host, and closes them when it unloads', async () => {
    const root = createRoot()
    const host = { env: {}, home: fixture.root, cwd: '/', version: '0' }
    const giver = mount(root, {
      id: 'host',
      plugin: {
        name: 'host',
        provide: ['host'],
        apply: (ctx: HostGiver) => ctx.provide('host', host),
      },
      config: {},
      timeoutMs: 5000,
    })
    await giver.settled()
    const mounted = mount(root, { id: 'store-jsonl', plugin, config: {}, timeoutMs: 5000 })
    expect(await mounted.settled()).toEqual({ state: 'active' })
    expect(root.store.location).toBe(sessions)
    const log = await root.store.create(headerFor('plugged'))
    await log.append(factsFrom(0, 1), { sync: true })
    expect((await fixture.store.list())[0]?.busy).toBe(true)
    await mounted.dispose()
    expect(root.get('store')).toBeUndefined()
    const again = await fixture.store.open('plugged', { mode: 'write' })
    expect(again.tail).toEqual(factsFrom(0, 1))
    await again.close()
  })

  it('refuses a config that it does not know', async () => {
    for (const config of [{ compression: 'gzip' }, { segmentMaxBytes: 0 }, { path: '/x' }]) {
      expect(plugin.Config.safeParse(config).success).toBe(false)
    }
  })
})

interface HostGiver {
  provide(name: string, value: unknown): unknown
}
