import { existsSync, readFileSync } from 'node:fs'
import {
  appendFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { sessionArchived, sessionTitle, type NewFact } from '@cordage/core/session'
import type { Io } from '@cordage/core/store'
import { factsFrom, headerFor } from '@cordage/testkit'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type JsonlStore, nodeIo, ThreadCatalog } from '../src/index.ts'
import { type Fixture, makeFixture } from './fixtures.ts'

let fixture: Fixture
let root: string
let opened: string[]
/** The real disk, and which files of logs were opened to be read. */
const watchingIo: Io = {
  ...nodeIo,
  open: (path, mode) => {
    if (mode === 'read') opened.push(path)
    return nodeIo.open(path, mode)
  },
}

beforeEach(async () => {
  fixture = await makeFixture()
  root = join(fixture.root, 'sessions')
  opened = []
})
afterEach(() => fixture.dispose())

const catalogued = (from = 1) =>
  fixture.another({ io: watchingIo, catalog: new ThreadCatalog({ root, from }) })
const all = { children: true, archived: true }

async function add(id: string, ...facts: NewFact[]): Promise<void> {
  const log = existsSync(join(root, id))
    ? await fixture.store.open(id, { mode: 'write' })
    : await fixture.store.create(headerFor(id, { project: `/p/${id.length}` }))
  const next = (log.snapshot?.seq ?? 0) + log.tail.length
  const placed = facts.map((fact, index) => ({ ...fact, seq: next + index, time: 5 }))
  await log.append(placed.length > 0 ? placed : factsFrom(next, 1), { sync: true })
  await log.close()
}

/** Lists say the same with a catalog as without one. */
async function expectSame(store: JsonlStore, what: string): Promise<void> {
  for (const options of [all, {}, { limit: 2 }, { project: '/p/3' }, { ...all, limit: 1 }]) {
    const plain = await fixture.store.list(options)
    expect(await store.list(options), `${what} ${JSON.stringify(options)}`).toEqual(plain)
  }
}

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('the catalog', () => {
  it('says what the logs say, whatever happens to them', async () => {
    const store = catalogued()
    const segment = (id: string, number = 1) => join(root, id, `log/00000${number}.jsonl.zst`)
    const happenings: Record<string, () => Promise<unknown>> = {
      'three sessions': async () => {
        for (const id of ['one', 'two', 'three'])
          await add(id, sessionTitle({ title: id, by: 'user' }))
      },
      'a backup is made': () =>
        cp(join(root, 'one'), join(fixture.root, 'backup'), {
          recursive: true,
          preserveTimestamps: true,
        }),
      'one is added to': () => add('one'),
      'one is renamed': () => add('one', sessionTitle({ title: 'renamed', by: 'user' })),
      'two is put away': () => add('two', sessionArchived({ archived: true })),
      'two is taken out again': () => add('two', sessionArchived({ archived: false })),
      'three is removed': () => fixture.store.delete('three'),
      'the backup is put back': async () => {
        await rm(join(root, 'one'), { recursive: true })
        await cp(join(fixture.root, 'backup'), join(root, 'one'), {
          recursive: true,
          preserveTimestamps: true,
        })
      },
      'a folder is moved': () => rename(join(root, 'two'), join(root, 'elsewhere')),
      'it is moved back': () => rename(join(root, 'elsewhere'), join(root, 'two')),
      'a link stands in its place': async () => {
        await rename(join(root, 'two'), join(fixture.root, 'two'))
        await symlink(join(fixture.root, 'two'), join(root, 'two'))
      },
      'the folder of somebody': () => mkdir(join(root, 'theirs/log'), { recursive: true }),
      'a newer segment is empty': () => writeFile(segment('one', 9), ''),
      'the newest segment is cut': async () => {
        await rm(segment('one', 9))
        await truncate(segment('one'), 10)
      },
      'rubbish of the same size and time': async () => {
        await add('last')
        await catalogued().list(all)
        const { length } = await readFile(segment('last'))
        await writeFile(segment('last'), Buffer.alloc(length))
        await utimes(segment('last'), new Date(), new Date())
      },
    }
    for (const [what, happens] of Object.entries(happenings)) {
      await happens()
      await expectSame(store, what)
      await rest(15)
    }
    await expectSame(catalogued(), 'another process')
  })

  it('follows a session that somebody owns, also when nothing but its last segment grows', async () => {
    const store = catalogued()
    await add('quiet')
    const log = await fixture.store.create(headerFor('owned'))
    await expectSame(store, 'just owned')
    for (const from of [0, 1, 2]) {
      await rest(15)
      await log.append(factsFrom(from, 1), { sync: true })
      await expectSame(store, `owned, ${from}`)
      expect(await store.list({ limit: 1 })).toMatchObject([
        { header: { id: 'owned' }, busy: true },
      ])
    }
    await log.close()
    await expectSame(store, 'closed')
    expect((await store.list()).map(({ busy }) => busy)).toEqual([undefined, undefined])
  })

  it('reads no log twice that has not changed', async () => {
    for (const id of ['one', 'two', 'three']) await add(id)
    const store = catalogued()
    await store.list()
    expect(opened.length).toBeGreaterThan(2)
    await store.close()
    const later = catalogued()
    opened = []
    expect(await later.list()).toHaveLength(3)
    expect(opened).toEqual([])
    await add('two')
    await later.list()
    expect(opened.length).toBeGreaterThan(0)
    expect(opened.filter((path) => !path.startsWith(join(root, 'two')))).toEqual([])
  })

  it('starts nothing and leaves nothing where there are few sessions', async () => {
    for (const id of ['one', 'two']) await add(id)
    const store = catalogued(100)
    expect(await store.list()).toHaveLength(2)
    await store.close()
    expect(await readdir(root)).toEqual(['one', 'two'])
  })

  it('keeps nothing of a session that was deleted', async () => {
    const title = 'a secret name that nobody else has'
    await add('gone', sessionTitle({ title, by: 'user' }))
    const store = catalogued()
    await add('kept')
    await store.list()
    await store.close()
    const held = async () => {
      const names = (await readdir(root)).filter((name) => name.startsWith('catalog.db'))
      return names.some((name) => readFileSync(join(root, name)).includes(title))
    }
    expect(await held()).toBe(true)
    const other = catalogued()
    await other.delete('gone')
    expect(await held()).toBe(false)
    await other.close()
    expect(await held()).toBe(false)
  })
})

describe('a catalog that cannot be used', () => {
  const file = () => join(root, 'catalog.db')
  const filled = async () => {
    for (const id of ['one', 'two', 'three']) await add(id, sessionTitle({ title: id, by: 'user' }))
    const store = catalogued()
    await store.list(all)
    await store.close()
  }
  const sql = (text: string) => {
    const database = new Sqlite(file())
    database.exec(text)
    database.close()
  }

  it.each([
    ['is gone', () => rm(file())],
    ['is empty', () => truncate(file(), 0)],
    ['is no database', () => writeFile(file(), 'something else entirely '.repeat(500))],
    ['is cut', () => truncate(file(), 5000)],
    ['has a row that tells nothing', async () => sql(`UPDATE log SET told = '{}'`)],
    ['goes on with rubbish', () => appendFile(file(), Buffer.alloc(4096, 7))],
    ['is of another version', async () => sql('DROP TABLE log; PRAGMA user_version = 99')],
    ['has lost its table', async () => sql('DROP TABLE log')],
    ['has a row that is no JSON', async () => sql(`UPDATE log SET told = '{"he'`)],
    [
      'has a row of another session',
      async () => sql(`UPDATE log SET told = (SELECT max(told) FROM log)`),
    ],
    [
      'is a folder',
      async () => (await rm(file()), mkdir(join(file(), 'in the way'), { recursive: true })),
    ],
  ])('%s: lists are as without it', async (_, spoil) => {
    await filled()
    await spoil()
    const plain = await fixture.store.list(all)
    for (const store of [catalogued(), catalogued()]) {
      expect(await store.list(all)).toEqual(plain)
      await store.close()
    }
  })

  it('has any bytes zeroed: lists still come, and a rebuilt one is right', async () => {
    await filled()
    const whole = await readFile(file())
    for (let at = 0; at < whole.length; at += 2048) {
      const spoilt = Buffer.from(whole)
      spoilt.fill(0, at, at + 1024)
      await writeFile(file(), spoilt)
      const store = catalogued()
      expect(await store.list(all), `at ${at}`).toHaveLength(3)
      await store.upkeep?.rebuild()
      expect(await store.list(all), `rebuilt at ${at}`).toEqual(await fixture.store.list(all))
      await store.close()
    }
  })

  it('is held by another process: lists do not wait for it', async () => {
    await filled()
    const holder = new Sqlite(file())
    holder.pragma('locking_mode = EXCLUSIVE')
    holder.exec('BEGIN EXCLUSIVE')
    try {
      await expectSame(catalogued(), 'held')
    } finally {
      holder.close()
    }
    await expectSame(catalogued(), 'free again')
  })
})
