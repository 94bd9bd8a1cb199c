import { cpSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { canonical, coreEvent, type Fact } from '@cordage/core/session'
import { LiveSession, systemClock, type SessionLog } from '@cordage/core/store'
import { headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leasePath } from '../src/options.ts'
import { nodeIo } from '../src/node-io.ts'
import { rewriteLog } from '../src/rewrite.ts'
import { type Fixture, makeFixture } from './fixtures.ts'

const samples = join(import.meta.dirname, 'samples')
const formats = readdirSync(samples).filter((name) => name.startsWith('format-'))

let fixture: Fixture
beforeEach(async () => {
  fixture = await makeFixture()
})
afterEach(() => fixture.dispose())

describe.each(formats)('the sample of %s', (format) => {
  const [log = ''] = globSync(join(samples, format, '*/log'))
  const id = basename(dirname(log))
  const lines = readFileSync(join(samples, format, 'facts.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
  const blobs = readdirSync(join(dirname(log), 'blobs'))
  beforeEach(() => {
    cpSync(dirname(log), join(fixture.root, 'sessions', id), { recursive: true })
  })

  const linesOf = async (opened: SessionLog) => {
    return [opened.header, ...(await readAll(opened))].map((line) => canonical(line))
  }
  const expectWhole = async (opened: SessionLog) => {
    expect(opened.notices).toEqual([])
    expect(await linesOf(opened)).toEqual(lines)
    for (const hash of blobs) expect((await opened.getBlob(hash)).length).toBeGreaterThan(0)
    await opened.close()
  }

  it('is read as on the day it was made, and goes on', async () => {
    await expectWhole(await fixture.store.open(id, { mode: 'read' }))
    const owner = await fixture.store.open(id, { mode: 'write' })
    const session = await LiveSession.open(owner, { clock: systemClock, lookup: () => undefined })
    expect(session.turn).toMatchObject({ turn: 3, open: false })
    expect(session.surface.map(({ message }) => message.id)).toContain('sample-summary')
    await session.close()
    await expectWhole(await fixture.store.open(id, { mode: 'write' }))
    expect((await fixture.store.list())[0]).toMatchObject({ title: 'A sample' })
  })

  it('holds what it is a sample of', () => {
    const facts = lines.slice(1).map((line) => JSON.parse(line) as Fact)
    const types = new Set(facts.map(({ type }) => type))
    for (const type of ['tool/call', 'tool/result', 'compaction/summary', 'compaction/prune']) {
      expect(types).toContain(type)
    }
    expect([...types].filter((type) => !coreEvent(type)).length).toBeGreaterThan(1)
    expect(blobs.length).toBeGreaterThan(0)
    const files = readdirSync(log)
    expect(files.some((name) => name.endsWith('.jsonl'))).toBe(true)
    expect(files.length).toBeGreaterThan(2)
    expect(JSON.stringify(facts)).toContain('"later":{"member":true}')
  })

  it('keeps what nobody here knows through a fork, a salvage and a rewrite', async () => {
    const facts = lines.slice(1)
    const fork = await fixture.store.fork(id, headerFor('fork'), { before: facts.length })
    expect((await linesOf(fork)).slice(1)).toEqual(facts)
    await fork.close()
    const salvage = await fixture.store.salvage(id)
    const left: string[] = []
    for await (const fact of salvage.facts) left.push(canonical(fact))
    expect([canonical(salvage.header), ...left]).toEqual(lines)
    const directory = join(fixture.root, 'sessions', id)
    const lock = await nodeIo.lock(leasePath(directory), false)
    if (!lock) throw new Error('nobody else owns it')
    const { header } = await fixture.store.open(id, { mode: 'read' })
    const contents = { header, facts: () => rereading(fixture, id) }
    const options = {
      io: nodeIo,
      directory: join(fixture.root, 'sessions'),
      segmentMaxBytes: 1e6,
      compression: 'zstd',
    } as const
    await rewriteLog(options, { directory, lock, keepAs: 'log.old' }, contents)
    await lock.release()
    expect(await fixture.logFiles(id)).toHaveLength(1)
    await expectWhole(await fixture.store.open(id, { mode: 'write' }))
  })
})

async function* rereading({ store }: Fixture, id: string): AsyncGenerator<Fact> {
  yield* (await store.open(id, { mode: 'read' })).read(0)
}
