import { existsSync, readdirSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { Memories } from '@cordage/core/store'
import * as fc from 'fast-check'
import Sqlite from 'better-sqlite3'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
} from 'vitest'
import { needs } from '../../../../test/fixture/needs.ts'
import { makePlace, memory, type Place } from './place.ts'

let place: Place
let memories: Memories
/** Each test has a directory of its own; what is remembered of a person is there for all. */
let project: string
let tests = 0
beforeEach(() => void (project = `/srv/shop${(tests += 1)}`))

const find = async (text: string, more = {}, from = project) => {
  const items = await memories.search(from, { text, limit: 10, ...more })
  return items.map((item) => item.text)
}
const list = async () => (await memories.list(project)).filter(({ scope }) => scope === 'project')

describe('in one process', () => {
  beforeAll(async () => {
    place = await makePlace()
    memories = (await place.start()).memories
  })
  afterAll(() => place[Symbol.asyncDispose]())

  describe('what is remembered', () => {
    it('is found in a later process, with its source, scope and time', async () => {
      const added = await memories.add(project, memory('The staging port is 48213.'))
      const later = await place.start()
      const [found] = await later.memories.search(project, { text: 'staging', limit: 1 })
      expect(found).toEqual(added)
      expect(found).toMatchObject({
        scope: 'project',
        project,
        basis: 'user_said',
        source: { session: 's', seq: 1, by: 'user' },
      })
      expect(found?.time).toBeGreaterThan(1_700_000_000_000)
    })

    it('of a project is there in exactly that directory, of a person everywhere', async () => {
      await memories.add(project, memory('okapi of the project'))
      await memories.add(project, memory('okapi of the person', { scope: 'user' }))
      for (const other of [
        '/work',
        `${project}/sub`,
        project.toUpperCase(),
        `${project}/`,
        '/srv/sho%',
      ]) {
        expect(await find('okapi', {}, other)).toEqual(['okapi of the person'])
        expect((await memories.list(other)).filter(({ scope }) => scope !== 'user')).toEqual([])
      }
      expect((await find('okapi')).toSorted()).toEqual([
        'okapi of the person',
        'okapi of the project',
      ])
      expect(await find('okapi', { scope: 'user' })).toEqual(['okapi of the person'])
      expect(await find('okapi', { scope: 'project' })).toEqual(['okapi of the project'])
    })

    it('is found in any script, by two characters and by parts of names', async () => {
      const texts = [
        ['我们用数据库保存会话', '数据'],
        ['端口是四八二一三', '端口'],
        ['東京タワーに行きました', 'タワー'],
        ['한국어 형태소 분석', '형태'],
        ['使用React框架的項目', 'react 框架'],
        ['Call parseConfigFile() first', 'parseConfig'],
        ['Café crème', 'cafe'],
      ] as const
      for (const [text] of texts) await memories.add(project, memory(text))
      for (const [text, query] of texts) expect(await find(query)).toEqual([text])
    })

    it('is found by all the words of a question, else by any of them', async () => {
      await memories.add(project, memory('The staging port is 48213.'))
      await memories.add(project, memory('The port of Hamburg is large.'))
      expect(await find('staging port')).toEqual(['The staging port is 48213.'])
      expect((await find('which staging number'))[0]).toBe('The staging port is 48213.')
      expect(await find('nothing alike')).toEqual([])
    })

    it('is not recalled once it has expired, and people still see it', async () => {
      await memories.add(project, memory('zebra', { expires: Date.now() - 1 }))
      await memories.add(project, memory('zebra later', { expires: Date.now() + 1e9 }))
      expect(await find('zebra')).toEqual(['zebra later'])
      expect(await list()).toHaveLength(2)
    })

    it('hands out copies: changing one changes nothing', async () => {
      const added = await memories.add(project, memory('zebra'))
      Object.assign(added, { text: 'lion' })
      Object.assign(added.source, { session: 'x' })
      const [found] = await memories.search(project, { text: 'zebra', limit: 1 })
      expect(found).toMatchObject({ text: 'zebra', source: { session: 's' } })
    })
  })

  describe('a conflict', () => {
    it('supersedes, and the old one is history that is found on request only', async () => {
      const old = await memories.add(project, memory('The port is 1'))
      const { id } = await memories.add(project, memory('The port is 2', { replaces: old.id }))
      expect(await find('port')).toEqual(['The port is 2'])
      const all = await memories.search(project, { text: 'port', superseded: true, limit: 10 })
      expect(all.map(({ text, supersededBy }) => [text, supersededBy])).toEqual([
        ['The port is 2', undefined],
        ['The port is 1', id],
      ])
      await expect(memories.add(project, memory('x', { replaces: old.id }))).rejects.toMatchObject({
        code: 'MEMORY_UNKNOWN',
      })
    })

    it('with the very same text supersedes as well', async () => {
      await memories.add(project, memory('zebra'))
      await memories.add(project, memory('zebra', { source: { session: 't', seq: 9, by: 'user' } }))
      expect(await list()).toMatchObject([{ source: { session: 't' } }])
      expect(await find('zebra', { superseded: true })).toHaveLength(2)
    })

    it('reaches no item of another scope or project', async () => {
      const mine = await memories.add(project, memory('mine'))
      const person = await memories.add(project, memory('person', { scope: 'user' }))
      for (const [from, more] of [
        ['/other', { replaces: mine.id }],
        [project, { replaces: person.id }],
        [project, { replaces: mine.id, scope: 'user' }],
      ] as const) {
        const refused = memories.add(from, memory('new', more))
        await expect(refused).rejects.toMatchObject({ code: 'MEMORY_UNKNOWN' })
      }
      expect((await list()).map(({ id }) => id)).toEqual([mine.id])
    })
  })

  describe('what is forgotten', () => {
    it.each([0, 100])('leaves none of its bytes in a file, among %i others', async (others) => {
      for (let at = 0; at < others; at += 1) await memories.add(project, memory(`other item ${at}`))
      const old = await memories.add(project, memory('quixotry 斑马斑马 pyknicWord'))
      const next = await memories.add(
        project,
        memory('quixotry is sesquipedal', { replaces: old.id }),
      )
      const text = await place.bytes()
      for (const word of ['quixotry', 'pyknic', 'sesquipedal']) expect(text).toContain(word)
      // Another process reads meanwhile.
      const other = await place.start()
      await other.memories.search(project, { text: 'quixotry', limit: 1 })
      const { items } = await memories.forget(project, next.id)
      expect(items.map(({ id }) => id)).toEqual([next.id, old.id])
      const left = await place.bytes()
      const bytes = Buffer.from('斑马').toString('latin1')
      for (const word of ['quixotry', 'pyknic', 'sesquipedal', bytes])
        expect(left).not.toContain(word)
      expect(await find('quixotry', { superseded: true })).toEqual([])
      expect(await list()).toHaveLength(others)
    })

    it('names what says the same here, and counts what does elsewhere', async () => {
      const old = await memories.add(project, memory('zebra "twice" 斑马'))
      const { id } = await memories.add(project, memory('zebra once', { replaces: old.id }))
      const same = await memories.add(project, memory(old.text, { scope: 'user' }))
      await memories.add('/other', memory('zebra once'))
      const forgotten = await memories.forget(project, id)
      expect(forgotten).toMatchObject({ same: [same.id], sameElsewhere: 1 })
      await memories.forget(project, same.id)
    })

    it('may be history alone: what has taken its place stays', async () => {
      const old = await memories.add(project, memory('zebra one'))
      const next = await memories.add(project, memory('zebra two', { replaces: old.id }))
      await memories.forget(project, old.id)
      expect(await find('zebra', { superseded: true })).toEqual([next.text])
    })

    it('is of the own project, or unknown', async () => {
      const { id } = await memories.add(project, memory('zebra'))
      for (const [from, asked] of [
        ['/other', id],
        [project, 'none'],
        [project, `' OR 1=1 --`],
      ] as const) {
        await expect(memories.forget(from, asked)).rejects.toMatchObject({ code: 'MEMORY_UNKNOWN' })
      }
      expect(await find('zebra')).toEqual(['zebra'])
    })
  })

  describe('whatever is asked', () => {
    it('is words and nothing else', async () => {
      await memories.add(project, memory('a b x or not'))
      const hostile = ['"', '" OR 1=1 --', 'words:x', 'NEAR(a b)', 'a AND NOT b', '*', '\0']
      for (const query of [...hostile, "'; DROP TABLE memory; --"]) {
        await expect(find(query)).resolves.toBeDefined()
      }
      expect(await list()).toHaveLength(1)
    })

    it('and whatever is remembered is never an error of the database', async () => {
      for (const text of fc.sample(fc.string({ unit: 'binary', minLength: 1 }), 50)) {
        await memories.add(project, memory(text))
      }
      const queries = fc.string({ unit: 'binary' })
      await fc.assert(fc.asyncProperty(queries, async (query) => void (await find(query))))
      for (const { id } of await list()) await memories.forget(project, id)
      expect(await list()).toEqual([])
    })
  })
})

describe('the file', () => {
  beforeEach(async () => {
    place = await makePlace()
    memories = (await place.start()).memories
  })
  afterEach(() => place[Symbol.asyncDispose]())

  it('is not there before it is needed, nor is its thread; later it is for its owner alone', async () => {
    expect(readdirSync(place.home)).toEqual([])
    await memories.list(project)
    expect(execFileSync('stat', ['-c', '%a', place.file], { encoding: 'utf8' })).toBe('600\n')
  })

  it.each([
    [
      'is no database',
      'this is no database, and longer than the header of one would be'.repeat(99),
    ],
    ['has its middle overwritten', undefined],
  ])('that %s is set aside with a loud word, and the next one works', async (_, text) => {
    for (let at = 0; at < 60; at += 1) await memories.add(project, memory(`zebra number ${at}`))
    const whole = await readFile(place.file)
    await writeFile(place.file, text ?? whole.fill(7, 4096, whole.length - 4096))
    const next = await place.start()
    await next.memories.add(project, memory('lion'))
    expect(await next.memories.list(project)).toHaveLength(1)
    const aside = readdirSync(place.home).find((name) => name.includes('spoiled')) ?? ''
    expect(next.memories.notice).toContain(aside)
    expect(next.told.join('\n')).toContain(aside)
    // Forgetting says that it may hold a copy.
    const [item] = await next.memories.list(project)
    const { aside: named } = await next.memories.forget(project, item?.id ?? '')
    expect(named).toHaveLength(1)
    expect(named[0]).toContain(aside)
    // The process that had it open before goes on with the new one.
    await memories.add(project, memory('from the other process'))
    expect(await next.memories.list(project)).toHaveLength(1)
  })

  it('that a newer version wrote is refused and stays as it is', async () => {
    const database = new Sqlite(place.file)
    database.pragma('user_version = 99')
    database.close()
    await expect(memories.list(project)).rejects.toMatchObject({ code: 'MEMORIES_FAILED' })
    await expect(memories.list(project)).rejects.toThrow('newer version')
    expect(readdirSync(place.home)).toEqual(['memories.db'])
  })

  it('that cannot be opened is a failure with a code, and works once it can', async () => {
    await mkdir(place.file)
    const failed = memories.add(project, memory('zebra'))
    await expect(failed).rejects.toMatchObject({ code: 'MEMORIES_FAILED', retryable: true })
    await rm(place.file, { recursive: true })
    await memories.add(project, memory('zebra'))
    expect(await find('zebra')).toEqual(['zebra'])
  })

  it('on a full disk keeps what it has, and says so with a code', async (test) => {
    needs(test, 'mount')
    const small = await makePlace()
    const started = await small.start()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', small.home])
    onTestFinished(async () => {
      await started.close()
      execFileSync('umount', [small.home])
      await small[Symbol.asyncDispose]()
    })
    const { add } = started.memories
    const kept = [await add(project, memory('zebra'))]
    const refused = add(project, memory('x'.repeat(1_000_000)))
    await expect(refused).rejects.toMatchObject({ code: 'MEMORIES_FAILED' })
    await expect(refused).rejects.toThrow(/full/)
    expect(await started.memories.list(project)).toEqual(kept)
    await add(project, memory('lion'))
    expect(await started.memories.list(project)).toHaveLength(2)
  })

  it('is let go of when the row is gone, which then serves nobody', async () => {
    await memories.add(project, memory('zebra'))
    const held = () => readdirSync('/proc/self/fd').length
    const process = await place.start()
    await process.memories.list(project)
    const before = held()
    await process.close()
    expect(held()).toBeLessThan(before)
    await expect(process.memories.list(project)).rejects.toMatchObject({ code: 'MEMORIES_FAILED' })
    expect(existsSync(`${place.file}-journal`)).toBe(false)
  })
})
