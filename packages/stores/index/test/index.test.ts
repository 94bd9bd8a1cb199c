import { existsSync } from 'node:fs'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { textMessage } from '@cordage/core/message'
import {
  assistantMessage,
  compactionSummary,
  contextMessage,
  sessionArchived,
  sessionTitle,
  toolCall,
  toolResult,
  userMessage,
} from '@cordage/core/session'
import { request } from '@cordage/core/loop'
import type { Answer, RequestInput } from '@cordage/core/loop'
import { sessionRemoval } from '@cordage/core/store'
import { codeOf } from '@cordage/testkit'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  answered,
  makePlace,
  makeSession,
  openNew,
  said,
  type Place,
  type Process,
} from './place.ts'

let place: Place
let process: Process
beforeEach(async () => {
  place = await makePlace()
  process = await place.start()
})
afterEach(() => place[Symbol.asyncDispose]())

const call = { turn: 1, step: 1, callId: 'c' }
const resultOf = (name: string, text: string) => {
  const content = [{ type: 'text' as const, text }]
  const part = { type: 'tool-result', callId: 'c', name, content, isError: false } as const
  return toolResult({ ...call, name, messageId: 'r', part })
}

describe('a search', () => {
  it('leads to the very fact, with whose words they are and what stands around them', async () => {
    const long = `${'Not yet. '.repeat(40)}Now the zebra crosses. ${'Later. '.repeat(40)}`
    await makeSession(process, 'one', [said('Hello'), answered(long)])
    const [hit, ...more] = await process.hits('zebra')
    expect(more).toEqual([])
    expect(hit).toMatchObject({
      session: 'one',
      seq: 1,
      type: 'assistant/message',
      source: 'model',
      project: '/project',
      title: 'Hello',
    })
    expect(hit?.snippet).toMatch(/^….*Now the zebra crosses\. Later.*…$/)
    const { facts } = await process.root.sessionQuery.read('one', { from: 1, to: 2 })
    expect(JSON.stringify(facts)).toContain('zebra crosses')
    expect(facts[0]?.time).toBe(hit?.time)
  })

  it('finds what people and models said, calls, results, titles and summaries, each as whose it is', async () => {
    const summary = textMessage('s', 'user', 'kiwi', {
      kind: 'plugin',
      row: 'context-compaction',
      form: 'summary',
    })
    const thought = { type: 'reasoning', text: 'lychee' } as const
    const spoken = textMessage('a', 'assistant', 'banana', {
      kind: 'model',
      provider: 'p',
      model: 'm',
    })
    await makeSession(process, 'one', [
      said('apple'),
      assistantMessage({
        turn: 1,
        step: 1,
        attempt: 1,
        finish: 'stop',
        message: { ...spoken, content: [thought, ...spoken.content] },
      }),
      toolCall({ ...call, name: 'bash', arguments: '{"command":"ls\\nche\\u0072ry"}' }),
      resultOf('bash', '\u001b[31mdate\u001b[0m'),
      sessionTitle({ title: 'elderberry', by: 'model' }),
      compactionSummary({ id: 'c', range: { from: 0, to: 1 }, message: summary }),
      contextMessage({
        id: 'x',
        row: 'x',
        message: textMessage('x', 'user', 'mango', { kind: 'user' }),
      }),
      toolCall({ ...call, name: 'session_search', arguments: '{"query":"papaya"}' }),
      resultOf('session_search', 'papaya'),
    ])
    const sourceOf = async (word: string) => (await process.hits(word)).map((hit) => hit.source)
    expect(await sourceOf('apple')).toEqual(['user'])
    expect(await sourceOf('banana')).toEqual(['model'])
    expect(await sourceOf('bash cherry')).toEqual(['model'])
    expect(await sourceOf('date')).toEqual(['tool'])
    expect(await sourceOf('elderberry')).toEqual(['model'])
    expect(await sourceOf('kiwi')).toEqual(['plugin'])
    for (const none of ['lychee', 'mango', 'papaya', 'n']) expect(await sourceOf(none)).toEqual([])
  })

  it('finds what models thought where that is wanted', async () => {
    const [text] = [textMessage('a', 'assistant', '', { kind: 'model', provider: 'p', model: 'm' })]
    const content = [{ type: 'reasoning' as const, text: 'lychee' }]
    const message = { ...text!, content }
    const fact = assistantMessage({ turn: 1, step: 1, attempt: 1, finish: 'stop', message })
    await makeSession(process, 'one', [fact])
    const other = await place.start({ reasoning: true, path: join(place.home, 'other', 'it.db') })
    expect(await other.find('lychee')).toEqual(['one#0'])
  })

  it('finds the head of a result of which the log shows less', async () => {
    const session = await openNew(process.root, 'one')
    const hash = await session.putBlob(
      Buffer.from(`${'word '.repeat(100)}durian ${'x'.repeat(50_000)} fig`),
    )
    const blob = { hash, bytes: 51_000, mediaType: 'text/plain' }
    const { data, ...fact } = resultOf('bash', 'word … fig')
    const truncated = { chars: 51_000, shownHead: 4, shownTail: 3, blob }
    await session.append([{ ...fact, data: { ...(data as object), truncated } }])
    await session.close()
    expect(await process.find('durian')).toEqual(['one#0'])
    expect(await process.find('fig')).toEqual([])
  })

  it('keeps to a project, a session, types, and times', async () => {
    await makeSession(process, 'one', [said('zebra')])
    await makeSession(process, 'two', [said('lion'), answered('zebra')], { project: '/other' })
    await makeSession(process, 'sub', [said('zebra')], { project: '/project/sub' })
    await makeSession(process, 'child', [said('zebra')], { depth: 1 })
    await makeSession(process, 'away', [said('zebra'), sessionArchived({ archived: true })])
    const find = async (more: object) => (await process.find('zebra', more)).toSorted()
    expect(await find({})).toEqual(['one#0', 'sub#0', 'two#1'])
    expect(await find({ project: '/project' })).toEqual(['one#0'])
    expect(await find({ project: '/project', children: true })).toEqual(['child#0', 'one#0'])
    expect(await find({ project: '/project', archived: true })).toEqual(['away#0', 'one#0'])
    expect(await find({ except: 'one' })).toEqual(['sub#0', 'two#1'])
    expect(await find({ session: 'child' })).toEqual(['child#0'])
    expect(await find({ types: ['assistant/message'] })).toEqual(['two#1'])
    expect(await find({ types: [] })).toEqual([])
    const [hit] = await process.hits('zebra', { session: 'two' })
    const time = hit?.time ?? 0
    expect(await find({ session: 'two', since: time, until: time })).toEqual(['two#1'])
    expect(await find({ session: 'two', since: time + 1 })).toEqual([])
    expect(await find({ session: 'two', until: time - 1 })).toEqual([])
    expect(await codeOf(process.find('zebra', { session: 'none' }))).toBe('SESSION_NOT_FOUND')
  })

  it('gives the best first, and of equals the newer', async () => {
    const facts = [said('zebra'), said('zebra'), said(`zebra ${'and other beasts '.repeat(50)}`)]
    const session = await openNew(process.root, 'one')
    for (const fact of facts) {
      await session.append([fact])
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await session.close()
    expect(await process.find('zebra')).toEqual(['one#1', 'one#0', 'one#2'])
  })

  it('goes on page by page, whatever is said meanwhile', async () => {
    const session = await openNew(process.root, 'one')
    await session.append(Array.from({ length: 45 }, (_, at) => said(`zebra ${at}`)))
    const { sessionQuery } = process.root
    const seen: number[] = []
    let cursor: string | undefined
    do {
      const page = await sessionQuery.events({
        text: 'zebra',
        limit: 20,
        ...(cursor === undefined ? {} : { cursor }),
      })
      seen.push(...page.hits.map(({ seq }) => seq))
      cursor = page.next
      await session.append([said('another zebra')])
    } while (cursor !== undefined)
    await session.close()
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 45 }, (_, at) => at))
  })

  it('by session gives each once, with its best place and how many there are', async () => {
    await makeSession(process, 'one', [said('zebra among many other beasts'), said('zebra')])
    await makeSession(process, 'two', [said('a zebra, and some more words than that')])
    const { hits } = await process.root.sessionQuery.sessions({ text: 'zebra' })
    expect(hits).toMatchObject([
      { session: 'one', seq: 1, events: 2 },
      { session: 'two', seq: 0, events: 1 },
    ])
  })

  it.each([
    ['', {}],
    ['"', {}],
    ['***', {}],
    ['\u0000', {}],
    ['x'.repeat(1_000_000), {}],
    ['x '.repeat(400), {}],
    ['zebra', { limit: 0 }],
    ['zebra', { limit: 1.5 }],
    ['zebra', { cursor: "1' OR 1" }],
    ['zebra', { cursor: '1.-1' }],
  ])('that cannot be is refused in words: %#', async (text, more) => {
    await makeSession(process, 'one', [said('zebra')])
    expect(await codeOf(process.find(text, more))).toBe('SESSION_QUERY_INVALID')
  })

  it('of a store without sessions finds nothing, and writes nothing', async () => {
    expect(await process.find('zebra')).toEqual([])
    expect(existsSync(place.index)).toBe(false)
  })

  it('ends with the reason of its signal', async () => {
    await makeSession(process, 'one', [said('zebra')])
    const reason = new Error('enough')
    const search = process.find('zebra', { signal: AbortSignal.abort(reason) })
    await expect(search).rejects.toBe(reason)
    expect(await process.find('zebra')).toEqual(['one#0'])
  })
})

describe('the index', () => {
  it('is not there before the first search, whatever is said', async () => {
    await makeSession(process, 'one', [said('zebra')])
    expect(existsSync(place.index)).toBe(false)
    await process.find('zebra')
    expect(existsSync(place.index)).toBe(true)
  })

  it('is there after the first answer where that is wanted', async () => {
    await makeSession(process, 'one', [said('zebra')])
    const { root } = await place.start({ openAt: 'startup' })
    expect(existsSync(place.index)).toBe(false)
    await request.run(root, {} as RequestInput, () => ({}) as Answer)
    const entries = () => {
      const database = new Sqlite(place.index, { readonly: true })
      const count = database.prepare('SELECT count(*) FROM entry').pluck().get()
      database.close()
      return count
    }
    await expect.poll(entries, { timeout: 15_000 }).toBe(1)
  })

  it('says how much of it is missing where a search does not wait', async () => {
    const facts = Array.from({ length: 600 }, (_, at) => said(`zebra ${at}`))
    for (const id of ['one', 'two', 'three']) await makeSession(process, id, facts)
    const { sessionQuery } = process.root
    expect((await sessionQuery.events({ text: 'zebra', waitMs: 0 })).behind).toBe(3)
    expect((await sessionQuery.events({ text: 'zebra' })).behind).toBe(0)
  })

  it('goes on where it stopped, also within this process', async () => {
    const session = await openNew(process.root, 'one')
    await session.append([said('zebra')])
    expect(await process.find('zebra')).toEqual(['one#0'])
    await session.append([answered('lion'), said('tiger')])
    expect(await process.find('lion')).toEqual(['one#1'])
    await session.append(Array.from({ length: 1_300 }, (_, at) => said(`number ${at}`)))
    expect(await process.find('number 1299')).toEqual(['one#1302'])
    await session.append([said('ape')])
    expect(await process.find('ape')).toEqual(['one#1303'])
    await session.close()
    const later = await place.start()
    const again = await later.root.sessions.open('one')
    await again.append([said('hippo')])
    expect(await later.find('hippo')).toEqual(['one#1304'])
    expect(await process.find('hippo')).toEqual(['one#1304'])
    expect(await process.find('zebra')).toEqual(['one#0'])
  })

  it('holds no session twice that two processes index at once', async () => {
    const facts = Array.from({ length: 1_200 }, (_, at) => said(`zebra number${at}`))
    for (const id of ['one', 'two', 'three']) await makeSession(process, id, facts)
    const all = [process, await place.start(), await place.start()]
    await Promise.all(all.map((one) => one.find('zebra', { waitMs: 60_000 })))
    for (const one of all) {
      expect((await one.find('number1199')).toSorted()).toEqual([
        'one#1199',
        'three#1199',
        'two#1199',
      ])
    }
    const database = new Sqlite(place.index, { readonly: true })
    expect(database.prepare('SELECT count(*) FROM entry').pluck().get()).toBe(3_600)
    expect(database.prepare('SELECT count(*) FROM word').pluck().get()).toBe(3_600)
    database.close()
  })

  it('knows a session from another one that came to have its name', async () => {
    await makeSession(process, 'one', [said('zebra'), said('lion')])
    expect(await process.find('zebra')).toEqual(['one#0'])
    await rm(join(place.home, 'sessions', 'one'), { recursive: true })
    await makeSession(process, 'one', [said('tiger'), said('ape'), said('hippo')])
    expect(await process.find('zebra')).toEqual([])
    expect(await process.find('tiger')).toEqual(['one#0'])
    expect(await process.find('hippo')).toEqual(['one#2'])
  })

  it('knows a log that was put back and went on in another way', async () => {
    const folder = join(place.home, 'sessions', 'one')
    const append = async (text: string) => {
      const session = await process.root.sessions.open('one')
      await session.append([said(text)])
      await session.close()
    }
    await makeSession(process, 'one', [said('zebra')])
    await cp(folder, join(place.home, 'backup'), { recursive: true })
    await append('lion')
    expect(await process.find('lion')).toEqual(['one#1'])
    await rm(folder, { recursive: true })
    await cp(join(place.home, 'backup'), folder, { recursive: true })
    await append('tiger')
    expect(await process.find('tiger')).toEqual(['one#1'])
    expect(await process.find('lion')).toEqual([])
    expect(await process.find('zebra')).toEqual(['one#0'])
  })

  it('holds the history of forks once, and finds it in them all the same', async () => {
    await makeSession(process, 'one', [said('zebra'), answered('lion')])
    const { sessions } = process.root
    const fork = await sessions.fork('one')
    await fork.append([said('tiger')])
    await fork.close()
    const second = await sessions.fork(fork.id)
    await second.close()
    const at = (id: string, seq: number) => `${id}#${seq}`
    expect(await process.find('zebra')).toEqual(['one#0'])
    expect(await process.find('tiger')).toEqual([at(fork.id, 2)])
    expect(await process.find('zebra', { session: second.id })).toEqual(['one#0'])
    expect(await process.find('tiger', { session: second.id })).toEqual([at(fork.id, 2)])
    expect(await process.find('tiger', { session: 'one' })).toEqual([])
    await process.root.store.delete('one')
    expect(await process.find('zebra')).toEqual([at(fork.id, 0)])
    expect(await process.find('tiger')).toEqual([at(fork.id, 2)])
  })

  it('is not touched where a log is packed', async () => {
    await makeSession(process, 'one', [said('zebra'), answered('lion')])
    expect(await process.find('lion')).toEqual(['one#1'])
    await process.root.store.upkeep?.pack('one')
    expect(await process.find('lion')).toEqual(['one#1'])
    expect(await process.find('zebra')).toEqual(['one#0'])
  })

  it('is made anew by whoever finds it gone, spoiled, or of another program', async () => {
    await makeSession(process, 'one', [said('zebra')])
    expect(await process.find('zebra')).toEqual(['one#0'])
    await rm(place.index)
    expect(await process.find('zebra')).toEqual(['one#0'])
    await process.close()
    await writeFile(
      place.index,
      'no database at all, but long enough to be read as one '.repeat(100),
    )
    const second = await place.start()
    expect(await second.find('zebra')).toEqual(['one#0'])
    await second.close()
    await rm(place.index)
    const other = new Sqlite(place.index)
    other.exec('CREATE TABLE session (a); PRAGMA user_version = 1')
    other.close()
    const third = await place.start()
    expect(await third.find('zebra')).toEqual(['one#0'])
  })

  it('is made anew when it is asked for', async () => {
    await makeSession(process, 'one', [said('zebra')])
    await process.find('zebra')
    const database = new Sqlite(place.index)
    database.exec(`DELETE FROM word; INSERT INTO word (word) VALUES ('delete-all')`.slice(18))
    database.close()
    expect(await process.find('zebra')).toEqual([])
    await process.root.sessionQuery.rebuild()
    expect(await process.find('zebra')).toEqual(['one#0'])
  })

  it('is in memory where it cannot be kept', async () => {
    await makeSession(process, 'one', [said('zebra')])
    const path = join(place.home, 'no', 'such', 'folder', 'it.db')
    const other = await place.start({ path })
    expect(await other.find('zebra')).toEqual(['one#0'])
    expect(existsSync(path)).toBe(false)
  })

  it('holds what is before damage, and says where the rest cannot be read', async () => {
    const session = await openNew(process.root, 'one')
    for (const text of ['zebra', 'lion', 'tiger']) await session.append([said(text)])
    await session.close()
    await makeSession(process, 'two', [said('zebra')])
    const log = join(place.home, 'sessions', 'one', 'log', '000001.jsonl.zst')
    const bytes = await readFile(log)
    const at = bytes.lastIndexOf('"kind":"facts"') - 200
    bytes[at] = (bytes[at] ?? 0) ^ 0xff
    await writeFile(log, bytes)
    const { hits, unreadable } = await process.root.sessionQuery.events({ text: 'zebra' })
    expect(hits.map((hit) => hit.session).toSorted()).toEqual(['one', 'two'])
    expect(unreadable).toEqual(['one'])
    expect(await process.find('tiger')).toEqual([])
    const salvaged = await process.root.sessions.salvage('one', { project: '/project' })
    expect(await process.find('tiger')).toEqual([expect.stringContaining(salvaged.id)])
  })
})

describe('a session that is deleted', () => {
  const words = ['quixotry', '秘密数据库', 'zeugmaticName']
  const traces = async () => {
    const database = new Sqlite(place.index)
    database.exec(`CREATE VIRTUAL TABLE temp.seen USING fts5vocab('main', 'word', 'row')`)
    const terms = database.prepare('SELECT term FROM seen').pluck().all() as string[]
    database.close()
    return terms
  }

  it.each([1, 400])('leaves no word of %i facts in the files of the index', async (count) => {
    await makeSession(
      process,
      'kept',
      Array.from({ length: 500 }, (_, at) => said(`other word${at}`)),
    )
    const secrets = Array.from({ length: count }, (_, at) => said(`${words.join(' ')} only${at}x`))
    await makeSession(process, 'gone', secrets)
    expect(await process.find('quixotry', { limit: 1 })).toHaveLength(1)
    const second = await place.start()
    expect(await second.find('秘密', { limit: 1 })).toHaveLength(1)
    expect(await place.indexBytes()).toContain('quixotry')
    await process.root.store.delete('gone')
    const bytes = await place.indexBytes()
    const all = [...words, 'zeugmaticname', 'only0x', 'gone'].map((one) =>
      Buffer.from(one).toString('latin1'),
    )
    expect(all.filter((word) => bytes.includes(word))).toEqual([])
    const terms = await traces()
    expect(terms.filter((term) => /quix|密|only|zeug/.test(term))).toEqual([])
    expect(await second.find('quixotry')).toEqual([])
    expect(await process.find('word499')).toEqual(['kept#499'])
  })

  it('leaves nothing where the index is switched off', async () => {
    await makeSession(process, 'gone', [said('quixotry')])
    await makeSession(process, 'more', [said('pyknic')])
    await process.find('quixotry')
    await process.close()
    const off = await place.start({ openAt: 'never' })
    await off.root.store.delete('gone')
    expect(await place.indexBytes()).not.toContain('quixotry')
    expect(await place.indexBytes()).toContain('pyknic')
  })

  it('is out of the index before its files go, so that no kill leaves its words alone', async () => {
    await makeSession(process, 'gone', [said('quixotry')])
    await process.find('quixotry')
    let bytes = ''
    sessionRemoval.use(
      process.root,
      async (_, next) => {
        bytes = await place.indexBytes()
        return next()
      },
      { order: 1 },
    )
    await process.root.store.delete('gone')
    expect(bytes).toContain('SQLite')
    expect(bytes).not.toContain('quixotry')
  })

  it('leaves nothing when it is collected with what is too old', async () => {
    await makeSession(process, 'gone', [said('quixotry')])
    await process.find('quixotry')
    const collected = await process.root.store.upkeep?.collect({ maxTotalBytes: 1 })
    expect(collected?.sessions.map(({ id }) => id)).toEqual(['gone'])
    expect(await place.indexBytes()).not.toContain('quixotry')
  })

  it('is gone from the index at the next search, however it went', async () => {
    await makeSession(process, 'gone', [said('quixotry')])
    await process.find('quixotry')
    await rm(join(place.home, 'sessions', 'gone'), { recursive: true })
    expect(await process.find('quixotry')).toEqual([])
    expect(await place.indexBytes()).not.toContain('quixotry')
  })
})

describe('where searching is switched off', () => {
  it('searches say so, and single sessions can be read and traced', async () => {
    await makeSession(process, 'one', [said('zebra')])
    const off = await place.start({ openAt: 'never' })
    const { sessionQuery } = off.root
    expect(await codeOf(off.find('zebra'))).toBe('SESSION_QUERY_SEARCH_DISABLED')
    expect(await codeOf(sessionQuery.sessions({ text: 'zebra' }))).toBe(
      'SESSION_QUERY_SEARCH_DISABLED',
    )
    expect((await sessionQuery.read('one', { from: 0, to: 5 })).facts).toHaveLength(1)
    expect((await sessionQuery.trace('one')).session.title).toBe('zebra')
    await sessionQuery.rebuild()
    expect(existsSync(place.index)).toBe(false)
  })
})

it('lineage names where a session comes from, and what came of it', async () => {
  await makeSession(process, 'one', [said('zebra')])
  const { sessions, sessionQuery } = process.root
  const fork = await sessions.fork('one')
  await fork.close()
  const second = await sessions.fork(fork.id)
  await second.close()
  const ids = (nodes: readonly { header: { id: string } }[]) => nodes.map(({ header }) => header.id)
  const middle = await sessionQuery.trace(fork.id)
  expect(ids(middle.ancestors)).toEqual(['one'])
  expect(ids(middle.children)).toEqual([second.id])
  expect(ids((await sessionQuery.trace(second.id)).ancestors)).toEqual([fork.id, 'one'])
  expect(await codeOf(sessionQuery.trace('none'))).toBe('SESSION_NOT_FOUND')
})

it('reading gives facts as they are logged, and refuses places that are none', async () => {
  await makeSession(process, 'one', [said('zebra'), answered('lion')])
  const { sessionQuery } = process.root
  const session = await process.root.sessions.open('one', { mode: 'read' })
  const logged = []
  for await (const fact of session.read(0)) logged.push(fact)
  await session.close()
  expect((await sessionQuery.read('one', { from: 0, to: 9 })).facts).toEqual(logged)
  for (const from of [-1, 2, 0.5, Number.NaN]) {
    const read = sessionQuery.read('one', { from, to: 9 })
    expect(await codeOf(read)).toBe('SESSION_QUERY_EVENT_NOT_FOUND')
  }
  expect(await codeOf(sessionQuery.read('none', { from: 0, to: 1 }))).toBe('SESSION_NOT_FOUND')
})

it('a message of plugins is not taken for a person’s', async () => {
  const source = { kind: 'plugin', row: 'subagent', form: 'relay' } as const
  const message = textMessage('m', 'user', 'zebra', source)
  await makeSession(process, 'one', [userMessage({ message })])
  expect(await process.hits('zebra')).toMatchObject([{ source: 'plugin' }])
})
