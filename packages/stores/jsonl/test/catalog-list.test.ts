import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CatalogDatabase } from '../src/catalog-database.ts'
import { CatalogList } from '../src/catalog-list.ts'
import type { CatalogEntry, Told } from '../src/catalog-rows.ts'

let root: string
let database: CatalogDatabase
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cordage-catalog-'))
  database = new CatalogDatabase(join(root, 'catalog.db'))
})
afterEach(() => {
  vi.useRealTimers()
  database.close()
  rmSync(root, { recursive: true })
})

const segment = (id: string, number = 1) => join(root, id, `log/00000${number}.jsonl.zst`)
const longAgo = 1_000_000_000

/** A log that was last written to so many seconds after a time long ago. */
function makeLog(id: string, seconds: number): void {
  mkdirSync(join(root, id, 'log'), { recursive: true })
  writeFileSync(segment(id), id)
  age(segment(id), seconds)
  age(join(root, id, 'log'), seconds)
}

function age(path: string, seconds: number): void {
  utimesSync(path, longAgo + seconds, longAgo + seconds)
}

/** Lists all, and tells of each log that comes without it what `say` says of it. */
function list(say?: (id: string) => string): CatalogEntry[] {
  const listing = new CatalogList(root, database)
  const entries = JSON.parse(listing.next(100)) as CatalogEntry[]
  const untold = entries.filter(({ told }) => told === undefined).map(({ id }) => id)
  listing.tell(say ? Object.fromEntries(untold.map((id) => [id, say(id)])) : {})
  return entries
}

const words = (id: string) =>
  JSON.stringify({ header: { format: 1, id, createdAt: 1, project: '', depth: 0 } } satisfies Told)
const untold = (entries: readonly CatalogEntry[]) =>
  entries.filter(({ told }) => told === undefined).map(({ id }) => id)

describe('a list of the catalog', () => {
  it('looks at a log again while it is new, and keeps what was told of it', () => {
    makeLog('one', 0)
    makeLog('two', 1)
    vi.useFakeTimers({ now: (longAgo + 2) * 1000, toFake: ['Date'] })
    expect(untold(list(words))).toEqual(['two', 'one'])
    const unsettled = () => [...database.known().values()].filter((seen) => seen.unsettled)
    expect(unsettled().map(({ id }) => id)).toEqual(['two'])
    vi.setSystemTime((longAgo + 60) * 1000)
    expect(untold(list())).toEqual([])
    expect(unsettled()).toEqual([])
    expect(untold(list())).toEqual([])
  })

  it('has a log at its new place when an empty segment that was left in it is written to', () => {
    makeLog('one', 0)
    makeLog('two', 1)
    writeFileSync(segment('one', 2), '')
    age(join(root, 'one', 'log'), 0)
    expect(list(words).map(({ id }) => id)).toEqual(['two', 'one'])
    writeFileSync(segment('one', 2), 'more')
    const entries = list()
    expect(entries.map(({ id }) => id)).toEqual(['one', 'two'])
    expect(untold(entries)).toEqual(['one'])
  })

  it('has a log at its new place when it was written over', () => {
    for (const [seconds, id] of ['one', 'two', 'three'].entries()) makeLog(id, seconds)
    expect(list(words).map(({ id }) => id)).toEqual(['three', 'two', 'one'])
    writeFileSync(segment('three'), 'something else')
    age(segment('three'), -1)
    const entries = list()
    expect(entries.map(({ id }) => id)).toEqual(['two', 'one', 'three'])
    expect(untold(entries)).toEqual(['three'])
  })

  it('has a log at its place while it is not in its folder', () => {
    const ids = ['one', 'linked', 'two', 'packed', 'three', 'rewritten', 'four']
    for (const [seconds, id] of ids.entries()) makeLog(id, seconds)
    const move = (id: string, to: string) => renameSync(join(root, id, 'log'), join(root, id, to))
    move('linked', 'elsewhere')
    symlinkSync('elsewhere', join(root, 'linked/log'))
    move('packed', 'log.packed')
    mkdirSync(join(root, 'rewritten/log.next'))
    move('rewritten', 'log.next/log')
    for (const say of [words, undefined]) {
      expect(list(say).map(({ id }) => id)).toEqual(ids.toReversed())
    }
  })

  it('writes nothing down when nothing has changed', () => {
    makeLog('settled', 0)
    makeLog('owned', 1)
    writeFileSync(join(root, 'owned/live.jsonl'), '')
    list(words)
    const puts = vi.spyOn(database, 'put')
    expect(untold(list())).toEqual([])
    expect(puts.mock.calls.flatMap(([logs]) => logs)).toEqual([])
  })
})
