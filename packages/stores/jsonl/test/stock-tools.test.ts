import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { factAt, factsFrom, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { needs } from '../../../../test/fixture/needs.ts'
import { type Fixture, makeFixture } from './fixtures.ts'

let fixture: Fixture
beforeEach(async () => {
  fixture = await makeFixture({ segmentMaxBytes: 1_000 })
})
afterEach(() => fixture.dispose())

/** Facts in batches of one, over several segments with snapshots. */
async function grow(id: string, count: number): Promise<void> {
  const log = await fixture.store.create(headerFor(id))
  for (let seq = 0; seq < count; seq += 1) {
    const snapshot = log.wantsSnapshot ? { snapshot: { seq, state: { seq } } } : {}
    await log.append([factAt(seq)], { sync: false, ...snapshot })
  }
  log.appendLive([{ text: 'not a fact yet' }])
  await log.close()
}

/** What stock zstd prints of a log, as lines of JSON. It has nothing to complain of. */
async function printed(id: string, reader: string): Promise<unknown[]> {
  const files = await fixture.logFiles(id)
  const args = ['-c', `zstd -dc "$@" | ${reader}`, 'sh', ...files]
  const { stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8' })
  expect(stderr, id).toBe('')
  const lines = stdout.trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as unknown)
}

const last = async (id: string) => (await fixture.logFiles(id)).at(-1) ?? ''

/** The segment after this one. */
function next(path: string): string {
  const number = Number(/(\d+)\.jsonl\.zst$/.exec(path)?.[1]) + 1
  return path.replace(/\d+\.jsonl\.zst$/, `${String(number).padStart(6, '0')}.jsonl.zst`)
}

describe('stock zstd prints', () => {
  it('the header and every fact of a log, whatever became of it', async (test) => {
    needs(test, 'zstd')
    await grow('grown', 20)
    expect((await fixture.logFiles('grown')).length).toBeGreaterThan(3)
    const fork = await fixture.store.fork('grown', headerFor('forked'), { before: 17 })
    await fork.close()
    await grow('packed', 20)
    await fixture.store.upkeep?.pack('packed')
    expect(await fixture.logFiles('packed')).toHaveLength(1)
    await grow('torn', 20)
    await writeFile(await last('torn'), (await readFile(await last('torn'))).subarray(0, -5))
    const mended = await fixture.store.open('torn', { mode: 'write' })
    await mended.append([factAt(19)], { sync: true })
    await mended.close()
    const counts = { grown: 20, forked: 17, packed: 20, torn: 20 }
    for (const [id, count] of Object.entries(counts)) {
      const [header, ...facts] = await printed(id, 'cat')
      // The first segment of a fork is its parent's, header included.
      const first = id === 'forked' ? 'grown' : id
      expect(header, id).toMatchObject({ type: 'session', id: first })
      expect(facts, id).toEqual(factsFrom(0, count))
    }
  })

  it('a log whose segments hold nothing but what was claimed of them', async (test) => {
    needs(test, 'zstd')
    const ids = ['opened', 'left', 'taken', 'cut']
    for (const id of ids) await grow(id, 2)
    await (await fixture.store.open('opened', { mode: 'write' })).close()
    await (await fixture.store.open('opened', { mode: 'write' })).close()
    // One who was killed as soon as he had claimed a segment.
    await writeFile(next(await last('left')), '')
    await (await fixture.store.open('left', { mode: 'write' })).close()
    // One who is taken over before he has written anything.
    const idle = await fixture.store.open('taken', { mode: 'write' })
    const taken = await fixture.another().open('taken', { mode: 'write', takeOver: true })
    await taken.close()
    await idle.close()
    // One whose first write was cut short.
    await writeFile(next(await last('cut')), (await readFile(await last('cut'))).subarray(0, 99))
    const after = await fixture.store.open('cut', { mode: 'write' })
    await after.append([factAt(2)], { sync: true })
    await after.close()
    for (const id of ids) {
      const [, ...facts] = await printed(id, 'cat')
      expect(facts, id).toEqual(factsFrom(0, id === 'cut' ? 3 : 2))
      const log = await fixture.store.open(id, { mode: 'write' })
      expect(await readAll(log), id).toEqual(facts)
      expect(log.notices, id).toEqual([])
      await log.close()
    }
  })

  it('the beginning of a log to a reader that wants no more', async (test) => {
    needs(test, 'zstd')
    await grow('long', 200)
    const [header, ...facts] = await printed('long', 'head -n 4')
    expect(header).toEqual({ type: 'session', ...headerFor('long') })
    expect(facts).toEqual(factsFrom(0, 3))
  })
})

it('one root holds sessions of both kinds, listed and opened by a store of either', async () => {
  const kinds = { zstd: '.jsonl.zst', none: '.jsonl' } as const
  for (const compression of ['zstd', 'none'] as const) {
    const log = await fixture.another({ compression }).create(headerFor(compression))
    await log.append(factsFrom(0, 2), { sync: true })
    await log.close()
    const [file = ''] = await fixture.logFiles(compression)
    expect(basename(file)).toBe(`000001${kinds[compression]}`)
  }
  for (const compression of ['zstd', 'none'] as const) {
    const store = fixture.another({ compression })
    const listed = await store.list()
    expect(listed.map(({ header }) => header.id).sort()).toEqual(['none', 'zstd'])
    for (const id of ['none', 'zstd']) {
      const log = await store.open(id, { mode: 'write' })
      expect(await readAll(log)).toEqual(factsFrom(0, 2))
      await log.close()
    }
  }
})
