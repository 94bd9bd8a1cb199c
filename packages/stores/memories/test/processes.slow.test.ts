import { fork } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makePlace, type Place } from './place.ts'

let place: Place
beforeEach(async () => {
  place = await makePlace()
})
afterEach(() => place[Symbol.asyncDispose]())

/** Gives how many things it said that it has remembered, once it has ended. */
function remember(name: string, count: number, killAt = Infinity): Promise<number> {
  const file = join(import.meta.dirname, 'rememberer.ts')
  const child = fork(file, [place.home, name, String(count)], { execArgv: [] })
  let said = 0
  child.on('message', () => {
    said += 1
    if (said === killAt) child.kill('SIGKILL')
  })
  return new Promise((resolve) => child.once('exit', () => resolve(said)))
}

async function found(name: string): Promise<number> {
  const { memories } = await place.start()
  const items = await memories.search('/work', { text: `zebra ${name}`, limit: 1_000 })
  return items.filter(({ text }) => text.includes(` ${name} `)).length
}

function expectWhole(): void {
  const database = new Sqlite(place.file, { readonly: true })
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
  const count = (table: string) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
  expect(count('word')).toBe(count('memory'))
  database.close()
  expect(readdirSync(place.home).filter((name) => name.includes('spoiled'))).toEqual([])
}

it('processes that remember at once lose nothing, and none of them fails', async () => {
  expect(await Promise.all(['a', 'b', 'c'].map((name) => remember(name, 40)))).toEqual([40, 40, 40])
  for (const name of ['a', 'b', 'c']) expect(await found(name)).toBe(40)
  expectWhole()
})

it('a process that is killed while it remembers has kept all that it said it has', async () => {
  for (const killAt of [1, 7, 20]) {
    const name = `killed${killAt}`
    const said = await remember(name, 10_000, killAt)
    // What was under way may be there too.
    expect(await found(name)).toBeGreaterThanOrEqual(said)
  }
  expect(await remember('after', 3)).toBe(3)
  expectWhole()
})
