import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, readFile, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { textMessage } from '@cordage/core/message'
import { turnEnd, turnStart, userMessage, type NewFact } from '@cordage/core/session'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../../packages/kit/testkit/src/simulation/random.ts'
import { createJsonlStore } from '../../packages/stores/jsonl/src/index.ts'
import { makeSessions, optionsFor } from '../bench/many-sessions.ts'
import { runCli, startCli } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { readLog, sessionIds } from './fixture/read-log.ts'

const FACTS = 6_000
const seed = Number(process.env['CORDAGE_KILL_SEED'] ?? 20261201)
const random = seededRandom(seed)

let place: Place
let sessions: string
beforeAll(async () => {
  place = await makePlace('empty')
  sessions = join(place.home, 'sessions')
  await makeLong('long')
})
afterAll(() => place[Symbol.asyncDispose]())

/** Words that do not get much smaller, so that writing them takes its time. */
async function makeLong(id: string): Promise<void> {
  const store = createJsonlStore(optionsFor(sessions))
  const header = { format: 1, id, createdAt: 1_760_000_000_000, project: '/p', depth: 0 } as const
  const log = await store.create(header)
  for (let seq = 0; seq < FACTS; seq += 3) {
    const words = Array.from({ length: 60 }, () => Math.floor(random() * 1e9).toString(36)).join(
      ' ',
    )
    const facts: NewFact[] = [
      turnStart({ turn: seq / 3 + 1 }),
      userMessage({ message: textMessage(`m${seq}`, 'user', words, { kind: 'user' }) }),
      turnEnd({ turn: seq / 3 + 1, reason: 'completed' }),
    ]
    await log.append(
      facts.map((fact, index) => ({ ...fact, seq: seq + index, time: header.createdAt + seq })),
      { sync: false },
    )
  }
  await log.close()
  await store.close()
}

/** The bytes of all files below a folder, or of a file. */
function bytesOf(path: string): number {
  try {
    const found = statSync(path)
    if (!found.isDirectory()) return found.size
    return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
  } catch {
    // It was moved at this very moment, or is not there yet.
    return 0
  }
}

/** The folders and files whose names begin so. */
const named = (folder: string, start: string) =>
  readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .map((name) => join(folder, name))

/**
 * Kills a command once so much of its work is done, drawn anew and earlier each time that it was
 * quicker; `begin` makes what was done undone. Gives how much was done then.
 */
async function killedAt(
  args: string[],
  all: number,
  done: () => number,
  begin: () => Promise<unknown> = async () => {},
): Promise<number> {
  for (let part = 0.9; part > 0.01; part /= 2) {
    const wanted = Math.ceil(random() * part * all)
    const { child, ended } = startCli(place, args)
    while (child.exitCode === null && done() < wanted) await sleep(1)
    child.kill('SIGKILL')
    const { signal } = await ended
    if (signal === 'SIGKILL') {
      console.log(`${args[1]}: killed at ${done()} of about ${all} (seed ${seed})`)
      return done()
    }
    await begin()
  }
  throw new Error(`${args.join(' ')} ended each time before it could be killed`)
}

const cli = async (...args: string[]) => {
  const ended = await runCli(place, args)
  expect(ended.code, ended.stderr).toBe(0)
  return ended.stdout
}

/** What is in the list of a store that looks for itself. */
async function listed(): Promise<string[]> {
  const store = createJsonlStore(optionsFor(sessions))
  const all = await store.list({ children: true, archived: true })
  expect(all.filter(({ damaged }) => damaged !== undefined)).toEqual([])
  return all.map(({ header }) => header.id).sort()
}

/** Whatever was left over is so for days now, and so is all that is as old as that. */
async function age(): Promise<void> {
  const long = new Date(Date.now() - 100 * 86_400_000)
  for (const path of named(sessions, '.new-')) await utimes(path, long, long)
  for (const id of await listed()) {
    for (const path of named(join(sessions, id, 'log'), '0')) await utimes(path, long, long)
  }
}

describe('kill -9 in the middle', () => {
  it('of an export leaves no half file, and the next one is whole', async () => {
    const folder = join(place.base, 'exports')
    await mkdir(folder)
    const path = join(folder, 'long.jsonl')
    const args = ['sessions', 'export', 'long', '--out', path]
    const drafts = () => named(folder, 'long.jsonl.')
    await killedAt(args, 4_000_000, () => Math.max(0, ...drafts().map(bytesOf)))
    expect(existsSync(path)).toBe(false)
    await cli(...args)
    expect(readdirSync(folder)).toEqual(['long.jsonl'])
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ end: { facts: FACTS } })
  })

  it('of an import leaves nothing in the list, and the next one is whole', async () => {
    const whole = readLog(place.home, 'long')
    await cli('sessions', 'delete', 'long')
    const args = ['sessions', 'import', join(place.base, 'exports/long.jsonl')]
    const draft = () => named(sessions, '.new-').reduce((sum, path) => sum + bytesOf(path), 0)
    await killedAt(args, 2_000_000, draft, () => cli('sessions', 'delete', 'long'))
    expect(await listed()).toEqual([])
    expect(await cli(...args)).toContain('long')
    expect(await listed()).toEqual(['long'])
    expect(readLog(place.home, 'long')).toEqual(whole)
  })

  it('of packing leaves all facts, and the next one packs', async () => {
    const whole = readLog(place.home, 'long')
    const folder = join(sessions, 'long')
    const args = ['sessions', 'pack', 'long']
    await killedAt(args, 1_000_000, () => bytesOf(join(folder, 'log.next')))
    expect(JSON.parse(await cli('sessions', 'show', 'long', '--output', 'json'))).toMatchObject({
      notices: [],
      facts: { length: FACTS },
    })
    await cli(...args)
    expect(readdirSync(folder).sort()).toEqual(['lease.db', 'log'])
    expect(readLog(place.home, 'long')).toEqual(whole)
  })

  it('of a salvage leaves nothing in the list, and the next one is whole', async () => {
    const draft = () => named(sessions, '.new-').reduce((sum, path) => sum + bytesOf(path), 0)
    const args = ['sessions', 'salvage', 'long']
    const others = async () => (await listed()).filter((id) => id !== 'long')
    await killedAt(args, 1_000_000, draft, async () =>
      cli('sessions', 'delete', ...(await others())),
    )
    expect(await listed()).toEqual(['long'])
    const id = (await cli(...args)).trim()
    expect(readLog(place.home, id)).toHaveLength(FACTS + 1)
    expect(await listed()).toEqual([id, 'long'].sort())
  })

  it('of collecting leaves whole sessions, and the next one takes the rest', async () => {
    // What the tests above made is not old.
    await rm(sessions, { recursive: true })
    const count = 150
    const make = async () => {
      await makeSessions(sessions, count)
      await age()
    }
    await make()
    const left = () =>
      sessionIds(place.home)
        .filter((id) => !id.startsWith('catalog.db'))
        .sort()
    const before = left().length
    const args = ['sessions', 'gc', '--max-age-days', '30']
    await killedAt(args, count, () => before - left().length, make)
    const whole = await listed()
    expect(whole).toEqual(left())
    expect(JSON.parse(await cli('sessions', 'list', '--output', 'json'))).toHaveLength(
      Math.min(50, whole.length),
    )
    await cli(...args)
    const rest = readdirSync(sessions).filter((name) => !name.startsWith('catalog.db'))
    expect(rest).toEqual(['.collected'])
  })
})
