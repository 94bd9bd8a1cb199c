import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { textMessage } from '@cordage/core/message'
import { inboxSplice } from '@cordage/core/session'
import { LiveSession, systemClock, type SessionSummary } from '@cordage/core/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createJsonlStore, nodeIo } from '../../packages/stores/jsonl/src/index.ts'
import { makeSessions, optionsFor } from '../bench/many-sessions.ts'
import { startCli } from './fixture/cli.ts'
import { makePlace, type Place } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

let place: Place
let sessions: string
beforeEach(async () => {
  place = await makePlace('empty')
  sessions = join(place.home, 'sessions')
})
afterEach(() => place[Symbol.asyncDispose]())

const run = (...args: string[]) => runCli(place, args)
const at = (number: number) => `01K${String(number).padStart(8, '0')}`

async function list(...args: string[]): Promise<SessionSummary[]> {
  const { stdout, stderr, code } = await run('sessions', 'list', '--output', 'json', ...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as SessionSummary[]
}

/** A session whose agent has been sent things and has taken none of them. */
async function withWaiting(id: string, texts: readonly string[]) {
  const store = createJsonlStore({ ...optionsFor(sessions), io: nodeIo })
  const header = { format: 1, id, createdAt: 1, project: place.project, depth: 0 } as const
  const options = { clock: systemClock, lookup: () => undefined }
  const session = await LiveSession.open(await store.create(header), options)
  const inserted = texts.map((text, at) => {
    const message = textMessage(`message-${at}`, 'user', text, { kind: 'user' })
    return { queue: 'next-turn' as const, message }
  })
  await session.append([inboxSplice({ inserted, cause: 'send' })])
  return { session, [Symbol.asyncDispose]: () => store.close() }
}

describe('sessions are kept in order', () => {
  it('by what waits in them, which starts nothing, unless a process owns them', async () => {
    await using waiting = await withWaiting('waits', ['first', 'second', '第三'])
    const busy = await run('sessions', 'queue', 'waits', 'remove', '1')
    expect(busy).toMatchObject({ code: 75, stderr: expect.stringContaining('waits') })
    expect((await run('sessions', 'queue', 'waits')).stdout).toMatch(
      /^1 .* first\n2 .*\n3 .*第三\n$/,
    )
    await waiting.session.close()
    expect((await run('sessions', 'queue', 'waits', 'edit', '2', 'other', 'words')).code).toBe(0)
    const moved = await run('sessions', 'queue', 'wa', 'move', '3', '1', '--output', 'json')
    const [third, first, second] = JSON.parse(moved.stdout)
    expect([third.text, first.text, second.text]).toEqual(['第三', 'first', 'other words'])
    const log = await createJsonlStore({ ...optionsFor(sessions), io: nodeIo }).open('waits', {
      mode: 'read',
    })
    const types = new Set<string>()
    for await (const { type } of log.read(0)) types.add(type)
    await log.close()
    expect([...types]).toEqual(['inbox/splice'])
  })

  it('by other titles and by being put away, unless a process owns them', async () => {
    await makeSessions(sessions, 3)
    expect((await run('sessions', 'rename', at(1), 'Another', 'title')).stderr).toBe(
      `${at(1)} is called "Another title"\n`,
    )
    expect((await run('sessions', 'archive', at(0), at(1))).code).toBe(0)
    expect((await list()).map(({ title }) => title)).toEqual(['Fix number 2'])
    expect(
      (await list('--archived')).map(({ header, title, archived }) => [header.id, title, archived]),
    ).toEqual([
      [at(1), 'Another title', true],
      [at(0), 'Fix number 0', true],
      [at(2), 'Fix number 2', undefined],
    ])
    const text = await run('sessions', 'list', '--archived')
    expect(text.stdout).toMatch(/Another title.*archived\n/)
    expect((await run('sessions', 'archive', '--undo', at(1))).code).toBe(0)
    expect((await list()).map(({ header }) => header.id)).toEqual([at(1), at(2)])
    const store = createJsonlStore({ ...optionsFor(sessions), io: nodeIo })
    await store.open(at(2), { mode: 'write' })
    for (const args of [
      ['archive', at(2)],
      ['pack', at(2)],
      ['delete', at(2)],
    ]) {
      const { code, stderr } = await run('sessions', ...args)
      expect({ code, stderr }).toEqual({ code: 75, stderr: expect.stringContaining(at(2)) })
    }
    await store.close()
  })

  it('by packing and collecting, which say what they come to', async () => {
    await makeSessions(sessions, 2)
    await mkdir(join(sessions, '.trash-old-1'))
    await mkdir(join(sessions, at(0), 'blobs'))
    await writeFile(join(sessions, at(0), 'blobs', 'ab'.repeat(32)), 'nobody names me')
    const packed = await run('sessions', 'pack', '--output', 'json')
    expect(JSON.parse(packed.stdout)).toMatchObject([{ id: at(1) }, { id: at(0) }])
    expect((await run('sessions', 'pack', at(0))).stdout).toMatch(
      /^01K0+ +[\d.]+ K?B +-> +[\d.]+ K?B\ntotal /,
    )
    const dry = await run('sessions', 'gc', '--dry-run', '--max-total-mb', '1')
    expect(dry.stdout).toMatch(/^would remove 0 sessions, 1 blobs that nothing names/)
    const done = await run('sessions', 'gc')
    expect(done.stdout).toMatch(/^removed 0 sessions, 1 blobs that nothing names/)
    expect((await readdir(sessions)).sort()).toEqual(['.collected', at(0), at(1)])
    expect((await list()).map(({ title }) => title).sort()).toEqual([
      'Fix number 0',
      'Fix number 1',
    ])
  })

  it('by deleting every copy, and naming what stays', async () => {
    await makeSessions(sessions, 1)
    const fork = (await run('sessions', 'fork', at(0))).stdout.trim()
    const exported = ['html', 'md', 'jsonl'].map((end) =>
      join(place.home, 'exports', `mine.${end}`),
    )
    await mkdir(join(place.home, 'exports'))
    for (const path of exported) await run('sessions', 'export', at(0), '--out', path)
    const forked = join(place.home, 'exports/fork.jsonl')
    await run('sessions', 'export', fork, '--out', forked)
    const note = join(place.home, 'notes.md')
    await writeFile(note, `about ${at(0)}`)
    const follower = startCli(place, ['sessions', 'show', at(0), '--follow'])
    await expect.poll(() => follower.stdout(), { timeout: 60_000 }).toContain(at(0))
    const { stderr, code } = await run('sessions', 'delete', at(0))
    expect(code).toBe(0)
    expect(await follower.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Session ${at(0)} is not there any more`),
    })
    expect(stderr).toContain(`not deleted: ${fork} was forked from it`)
    expect(stderr).toContain('not reached: backups')
    expect([...exported, forked, note].map(existsSync)).toEqual([false, false, false, true, true])
    const shown = await run('sessions', 'show', fork)
    expect(shown.code).toBe(0)
  })
})

describe('kill -9 in the middle of a deletion', () => {
  it('leaves no export of a session that is gone, and nothing that gc does not take', async () => {
    await makeSessions(sessions, 1)
    const blobs = join(sessions, at(0), 'blobs')
    await mkdir(blobs)
    const names = Array.from({ length: 4000 }, (_, n) => n.toString(16).padStart(64, '0'))
    await Promise.all(names.map((name) => writeFile(join(blobs, name), name)))
    const exported = join(place.home, 'exports', 'mine.jsonl')
    await mkdir(join(place.home, 'exports'))
    await run('sessions', 'export', at(0), '--out', exported)
    const { child, ended } = startCli(place, ['sessions', 'delete', at(0)])
    while (existsSync(join(sessions, at(0))) && child.exitCode === null) await sleep(1)
    child.kill('SIGKILL')
    await ended
    expect(existsSync(exported)).toBe(false)
    await run('sessions', 'gc')
    expect(await readdir(sessions)).toEqual(['.collected'])
  })
})

describe('many sessions', () => {
  it('are listed through a catalog, which may be lost, spoiled and made anew', async () => {
    await makeSessions(sessions, 120)
    const catalog = join(sessions, 'catalog.db')
    const plain = await createJsonlStore({ ...optionsFor(sessions), io: nodeIo }).list({
      limit: 50,
    })
    expect(await list()).toEqual(JSON.parse(JSON.stringify(plain)))
    expect(existsSync(catalog)).toBe(true)
    const whole = await readFile(catalog)
    expect(await list()).toEqual(JSON.parse(JSON.stringify(plain)))
    await writeFile(catalog, Buffer.alloc(whole.length, 'rubbish'))
    expect(await list()).toEqual(JSON.parse(JSON.stringify(plain)))
    await writeFile(catalog, 'rubbish')
    await run('doctor', '--offline', '--rebuild')
    expect((await readFile(catalog)).toString('latin1')).toContain('Fix number 3')
    expect(await list()).toEqual(JSON.parse(JSON.stringify(plain)))
  })

  it('start no thread for a run that makes a new session', async () => {
    await makeSessions(sessions, 120)
    const { code } = await run('--model', 'scripted/fix-a-bug', 'say something')
    expect(code).not.toBe(78)
    expect(existsSync(join(sessions, 'catalog.db'))).toBe(false)
  })
})
