import { execFileSync } from 'node:child_process'
import { lstat, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, factAt, factsFrom, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { needs } from '../../../../test/fixture/needs.ts'
import { type Fixture, makeFixture } from './fixtures.ts'

let fixture: Fixture
beforeEach(async () => {
  fixture = await makeFixture()
})
afterEach(() => fixture.dispose())

describe('the files of a session', () => {
  it('are printed by stock zstd as header and facts, whatever else is in them', async (test) => {
    needs(test, 'zstd')
    let log = await fixture.store.create(headerFor('stock'))
    await log.append(factsFrom(0, 2), { sync: true })
    await log.append(factsFrom(2, 1), { sync: true })
    await log.close()
    log = await fixture.store.open('stock', { mode: 'write' })
    await log.append(factsFrom(3, 1), { sync: true, snapshot: { seq: 3, state: 'unseen' } })
    await log.close()
    const files = await fixture.logFiles('stock')
    expect(files).toHaveLength(2)
    const lines = execFileSync('zstd', ['-dc', ...files])
      .toString()
      .trim()
      .split('\n')
    const [first, ...facts] = lines.map((line) => JSON.parse(line) as unknown)
    expect(first).toEqual({ type: 'session', ...headerFor('stock') })
    expect(facts).toEqual(factsFrom(0, 4))
  })

  it('are lines of JSON without compression', async () => {
    const { store } = await remake({ compression: 'none' })
    const log = await store.create(headerFor('plain'))
    await log.append(factsFrom(0, 2), { sync: true })
    await log.close()
    const [file = ''] = await fixture.logFiles('plain')
    const lines = (await readFile(file, 'utf8')).trim().split('\n')
    const records = lines.map((line) => JSON.parse(line) as unknown)
    expect(records.filter((record) => !Array.isArray(record))).toEqual([
      { type: 'session', ...headerFor('plain') },
      ...factsFrom(0, 2),
    ])
  })

  it('may be of both kinds in one session', async () => {
    await (await fixture.store.create(headerFor('both'))).close()
    let next = 0
    for (const compression of ['none', 'zstd', 'none'] as const) {
      const log = await fixture.another({ compression }).open('both', { mode: 'write' })
      await log.append(factsFrom(next, 2), { sync: true })
      next += 2
      await log.close()
    }
    const log = await fixture.store.open('both', { mode: 'read' })
    expect(await readAll(log)).toEqual(factsFrom(0, 6))
    expect((await fixture.logFiles('both')).map((file) => file.replace(/^.*\d/, ''))).toEqual([
      '.jsonl.zst',
      '.jsonl',
      '.jsonl.zst',
      '.jsonl',
    ])
  })

  it('are for their owner only', async () => {
    const log = await fixture.store.create(headerFor('private'))
    await log.append(factsFrom(0, 1), { sync: true })
    await log.putBlob(Buffer.from('blob'))
    log.appendLive(['live'])
    await log.close()
    const folder = join(fixture.root, 'sessions')
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const modes = entries.map(async (entry) => {
      const { mode } = await stat(join(entry.parentPath, entry.name))
      return [entry.name, (mode & 0o777).toString(8)]
    })
    for (const [name, mode] of await Promise.all(modes)) {
      expect([name, mode]).toEqual([name, /\.|^[0-9a-f]{64}$/.test(name ?? '') ? '600' : '700'])
    }
    expect(((await stat(folder)).mode & 0o777).toString(8)).toBe('700')
  })
})

describe('segments', () => {
  it('begin when one is full, each with a snapshot taken before its facts', async () => {
    const { store } = await remake({ segmentMaxBytes: 1000 })
    const log = await store.create(headerFor('full'))
    const wanted: number[] = []
    for (let seq = 0; seq < 20; seq++) {
      if (log.wantsSnapshot) wanted.push(seq)
      const snapshot = log.wantsSnapshot ? { snapshot: { seq, state: { seq } } } : {}
      await log.append([factAt(seq)], { sync: seq % 3 === 0, ...snapshot })
    }
    expect(wanted.length).toBeGreaterThan(3)
    const files = await fixture.logFiles('full')
    expect(files.length).toBeGreaterThan(3)
    expect(wanted.length).toBeGreaterThanOrEqual(files.length - 1)
    await log.close()
    const again = await store.open('full', { mode: 'write' })
    expect(again.snapshot).toEqual({ seq: wanted.at(-1), state: { seq: wanted.at(-1) } })
    expect(again.wantsSnapshot).toBe(true)
    expect(await readAll(again)).toEqual(factsFrom(0, 20))
    expect(await readAll(again, 9)).toEqual(factsFrom(9, 11))
    await again.close()
  })

  it('open from the last snapshot without the ones before being read', async () => {
    const { store } = await remake({ segmentMaxBytes: 1000 })
    const log = await store.create(headerFor('lazy'))
    for (let seq = 0; seq < 20; seq++) {
      const snapshot = log.wantsSnapshot ? { snapshot: { seq, state: { seq } } } : {}
      await log.append([factAt(seq)], { sync: true, ...snapshot })
    }
    await log.close()
    const files = await fixture.logFiles('lazy')
    for (const file of files.slice(0, -1)) await writeFile(file, 'rubbish')
    const again = await store.open('lazy', { mode: 'write' })
    expect(again.notices).toEqual([])
    expect(again.snapshot?.seq).toBeGreaterThan(0)
    expect(await codeOf(readAll(again))).toBe('STORE_DAMAGED')
    await again.close()
  })

  it('are not piled up by openings without an append', async () => {
    await (await fixture.store.create(headerFor('idle'))).close()
    for (let round = 0; round < 4; round++) {
      await (await fixture.store.open('idle', { mode: 'write' })).close()
    }
    expect(await fixture.logFiles('idle')).toHaveLength(1)
  })
})

describe('batches', () => {
  it('of every size are one bounded frame that any reader of zstd inflates', async (test) => {
    needs(test, 'zstd')
    const { compress, decompress, isBounded } = await import('../src/zstd.ts')
    const frames: Buffer[] = []
    const contents: Buffer[] = []
    for (const size of [1, 2, 255, 256, 257, 1023, 1024, 1025, 70_000]) {
      const bytes = Buffer.from(Array.from({ length: size }, (_, at) => (at * at) % 251))
      const frame = await compress(bytes)
      expect(isBounded(frame, size)).toBe(true)
      expect(isBounded(Buffer.concat([frame, frame]), size)).toBe(false)
      expect((await decompress(frame)).equals(bytes)).toBe(true)
      frames.push(frame)
      contents.push(bytes)
    }
    const printed = execFileSync('zstd', ['-dc'], { input: Buffer.concat(frames) })
    expect(printed.equals(Buffer.concat(contents))).toBe(true)
  })

  it('that inflate to something else than they say are not inflated', async () => {
    const { compress } = await import('../src/zstd.ts')
    const { encodeFrame, decodeFrame, digest } = await import('../src/frame.ts')
    const log = await fixture.store.create(headerFor('bomb'))
    await log.append(factsFrom(0, 1), { sync: true })
    await log.close()
    const [file = ''] = await fixture.logFiles('bomb')
    const bytes = await readFile(file)
    const header = decodeFrame(bytes, 0, 'zstd')
    if ('problem' in header) throw new Error(header.reason)
    const payload = await compress(Buffer.alloc(60_000_000, ' '))
    const meta = { ...header.meta, kind: 'facts' as const, to: 1, raw: 100, prev: header.check }
    const bomb = { ...meta, size: payload.length, sum: digest(payload) }
    const { bytes: frame } = encodeFrame(bomb, payload, 'zstd')
    await writeFile(file, Buffer.concat([bytes.subarray(0, header.end), frame]))
    const before = process.memoryUsage().rss
    expect(await codeOf(fixture.store.open('bomb', { mode: 'read' }))).toBe('STORE_DAMAGED')
    expect(process.memoryUsage().rss - before).toBeLessThan(30_000_000)
  })
})

describe('blobs', () => {
  it('that changed on the disk are missing, and are written again', async () => {
    const log = await fixture.store.create(headerFor('blob'))
    const hash = await log.putBlob(Buffer.from('a picture'))
    const path = join(fixture.root, 'sessions/blob/blobs', hash)
    await writeFile(path, 'a pictura')
    expect(await codeOf(log.getBlob(hash))).toBe('BLOB_MISSING')
    await writeFile(path, 'a pict')
    expect(await log.putBlob(Buffer.from('a picture'))).toBe(hash)
    expect(Buffer.from(await log.getBlob(hash)).toString()).toBe('a picture')
    expect(await readdir(join(fixture.root, 'sessions/blob/blobs'))).toEqual([hash])
    await log.close()
  })
})

describe('ids', () => {
  it('that could leave the root or hide are refused', async () => {
    for (const id of ['../x', 'a/b', '.hidden', '', 'x'.repeat(101), 'a b', 'a\0', 'ünï']) {
      expect(await codeOf(fixture.store.create(headerFor(id))), id).toBe('STORE_ID_INVALID')
    }
    expect(await lstat(join(fixture.root, 'sessions')).catch(() => 'nothing')).toBe('nothing')
  })
})

async function remake(more: Parameters<typeof makeFixture>[0]): Promise<Fixture> {
  await fixture.dispose()
  fixture = await makeFixture(more)
  return fixture
}
