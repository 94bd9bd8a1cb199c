import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
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

/**
 * What stock zstd prints of a log, as lines of JSON. It complains of nothing but a last segment
 * that was begun and never written to, which has no bytes.
 */
async function printed(id: string, reader: string): Promise<unknown[]> {
  const files = await fixture.logFiles(id)
  const args = ['-c', `zstd -dc "$@" | ${reader}`, 'sh', ...files]
  const { stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8' })
  const empty = files.filter((file) => statSync(file).size === 0)
  expect(empty.filter((file) => file !== files.at(-1))).toEqual([])
  const blamed = stderr
    .trim()
    .split('\n')
    .filter((line) => line !== '')
  expect(blamed.filter((line) => !empty.some((file) => line.includes(file)))).toEqual([])
  const lines = stdout.trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as unknown)
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
    const last = (await fixture.logFiles('torn')).at(-1) ?? ''
    await writeFile(last, (await readFile(last)).subarray(0, -5))
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
