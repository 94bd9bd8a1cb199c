import { fork, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makePlace, makeSession, said, type Place } from './place.ts'

let place: Place
beforeEach(async () => {
  place = await makePlace()
})
afterEach(() => place[Symbol.asyncDispose]())

const sessions = 6
const facts = 1_500

async function fill(): Promise<void> {
  const { close, ...process } = await place.start()
  for (let at = 0; at < sessions; at += 1) {
    const texts = Array.from({ length: facts }, (_, seq) => said(`zebra number${at}x${seq}`))
    await makeSession({ close, ...process }, `s${at}`, texts)
  }
  await close()
}

const start = () => fork(join(import.meta.dirname, 'indexer.ts'), [place.home], { execArgv: [] })
const ended = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve))

/** How many entries there are, in a file that another process may write to. */
function entries(): number {
  if (!existsSync(place.index)) return 0
  const database = new Sqlite(place.index, { readonly: true, timeout: 10_000 })
  try {
    return database.prepare('SELECT count(*) FROM entry').pluck().get() as number
  } catch {
    // It has no tables yet.
    return 0
  } finally {
    database.close()
  }
}

async function expectWhole(): Promise<void> {
  const whole = await place.start()
  for (const [at, seq] of [
    [0, 0],
    [sessions - 1, facts - 1],
    [2, 700],
  ] as const) {
    expect(await whole.find(`number${at}x${seq}`, { waitMs: 600_000 })).toEqual([`s${at}#${seq}`])
  }
  const database = new Sqlite(place.index, { readonly: true })
  expect(database.prepare('SELECT count(*) FROM entry').pluck().get()).toBe(sessions * facts)
  expect(database.prepare('SELECT count(*) FROM word').pluck().get()).toBe(sessions * facts)
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
  database.close()
}

it('a process that is killed while it indexes leaves an index to go on with', async () => {
  await fill()
  for (const share of [0.2, 0.4, 0.7]) {
    const child = start()
    const gone = ended(child)
    await expect
      .poll(() => child.exitCode !== null || entries() >= share * sessions * facts, {
        timeout: 100_000,
        interval: 5,
      })
      .toBe(true)
    child.kill('SIGKILL')
    await gone
    expect(entries() % 500).toBe(0)
  }
  await expectWhole()
})

it('processes that index the same at once double nothing, and none of them fails', async () => {
  await fill()
  const children = [start(), start(), start()]
  const texts: unknown[] = []
  for (const child of children) child.on('message', (message) => texts.push(message))
  expect(await Promise.all(children.map(ended))).toEqual([0, 0, 0])
  expect(texts.filter((one) => one === 'done 20')).toHaveLength(3)
  await expectWhole()
})

it('a session that is deleted leaves nothing in an index that somebody does not let go of', async () => {
  const process = await place.start()
  await makeSession(process, 'gone', [said('quixotry')])
  expect(await process.find('quixotry')).toEqual(['gone#0'])
  const held = new Sqlite(place.index)
  held.exec('BEGIN EXCLUSIVE')
  await process.root.store.delete('gone')
  held.close()
  expect(existsSync(place.index) ? await place.indexBytes() : '').not.toContain('quixotry')
  await makeSession(process, 'next', [said('pyknic')])
  expect(await process.find('pyknic')).toEqual(['next#0'])
})
