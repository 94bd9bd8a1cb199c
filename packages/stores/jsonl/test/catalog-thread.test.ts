import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sessionTitle } from '@cordage/core/session'
import { factsFrom, headerFor } from '@cordage/testkit'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ThreadCatalog } from '../src/index.ts'
import { type Fixture, makeFixture } from './fixtures.ts'

let fixture: Fixture
beforeEach(async () => {
  fixture = await makeFixture()
})
afterEach(() => fixture.dispose())

const sources = resolve(import.meta.dirname, '../src')

/** The modules that come with one: those that it names, but for their types alone, and theirs. */
function reachedFrom(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  const text = readFileSync(join(sources, name), 'utf8')
  for (const [statement, from = ''] of text.matchAll(/^import [^']*'\.\/([\w-]+\.ts)'/gm)) {
    if (!statement.startsWith('import type')) reachedFrom(from, found)
  }
  for (const [, from = ''] of text.matchAll(/^export (?!type)[^']*from '\.\/([\w-]+\.ts)'/gm)) {
    reachedFrom(from, found)
  }
  return found
}

it('the database of the catalog is reached by its thread alone', () => {
  const main = reachedFrom('index.ts')
  expect(main).toContain('catalog.ts')
  expect(main).toContain('store.ts')
  expect([...main].filter((name) => /^catalog-(database|list|worker|scan)/.test(name))).toEqual([])
  expect(reachedFrom('catalog-worker.ts')).toContain('catalog-database.ts')
})

it('the catalog holds the header, the title and the descent of each session', async () => {
  const parent = { id: 'first', kind: 'spawn', seq: 1 } as const
  const first = headerFor('first')
  const child = headerFor('child', { depth: 1, parent })
  const log = await fixture.store.create(first)
  await log.append([{ ...sessionTitle({ title: 'A name', by: 'user' }), seq: 0, time: 1 }], {
    sync: true,
  })
  await log.close()
  await (await fixture.store.create(child)).close()
  const fork = headerFor('fork', { parent: { id: 'first', kind: 'fork', seq: 1 } })
  const forked = await fixture.store.fork('first', fork, { before: 1 })
  await forked.append(factsFrom(1, 1), { sync: true })
  await forked.close()

  const root = join(fixture.root, 'sessions')
  const store = fixture.another({ catalog: new ThreadCatalog({ root, from: 1 }) })
  await store.list({ children: true })
  const again = await store.list({ children: true })
  await store.close()
  expect(new Map(again.map(({ header }) => [header.id, header]))).toEqual(
    new Map([first, child, fork].map((header) => [header.id, header])),
  )
  const database = new Sqlite(join(root, 'catalog.db'), { readonly: true })
  const rows = database.prepare('SELECT id, told FROM log').raw().all() as [string, string][]
  database.close()
  const told = new Map(rows)
  expect(told.get('first')).toContain('"A name"')
  expect(told.get('fork')).toContain('"kind":"fork"')
  expect(told.get('child')).toContain('"kind":"spawn"')
})

it.each(['before it was opened', 'afterwards'])(
  'a session that is deleted leaves nothing in a catalog that was locked %s',
  async (when) => {
    const root = join(fixture.root, 'sessions')
    const log = await fixture.store.create(headerFor('secret'))
    const title = sessionTitle({ title: 'Of no concern', by: 'user' })
    await log.append([{ ...title, seq: 0, time: 1 }], { sync: true })
    await log.close()
    const open = () => fixture.another({ catalog: new ThreadCatalog({ root, from: 1 }) })
    const store = open()
    await store.list()
    await store.list()
    const held = new Sqlite(join(root, 'catalog.db'))
    const texts = () => {
      const names = readdirSync(root).filter((name) => name.startsWith('catalog.db'))
      return names.map((name) => readFileSync(join(root, name), 'latin1')).join()
    }
    expect(texts()).toContain('Of no concern')
    held.exec('BEGIN EXCLUSIVE')
    await (when === 'afterwards' ? store : open()).delete('secret')
    held.close()
    expect(texts()).not.toContain('Of no concern')
    expect(await store.list()).toEqual([])
  },
)
