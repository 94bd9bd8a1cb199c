import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fact } from '@cordage/core/session'
import type { Store } from '@cordage/core/store'
import { codeOf, factAt, factsFrom, headerFor } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decodeFrame, encodeFrame, type Frame } from '../src/frame.ts'
import { contentsOf, type Fixture, makeFixture } from './fixtures.ts'
import { flip } from './small-log.ts'

let fixture: Fixture
let log: string
beforeEach(async () => {
  fixture = await makeFixture()
  await grow('whole')
  log = join(fixture.root, 'sessions/whole/log')
})
afterEach(() => fixture.dispose())

/** Four segments of three batches of one fact each; the later ones begin with a snapshot. */
async function grow(id: string, text = 'fact'): Promise<void> {
  await (await fixture.store.create(headerFor(id))).close()
  for (let seq = 0; seq < 12; seq += 3) {
    const owner = await fixture.store.open(id, { mode: 'write' })
    const snapshot = seq > 0 ? { snapshot: { seq, state: { seq } } } : {}
    await owner.append([factAt(seq, { text: `${text} ${seq}` })], { sync: true, ...snapshot })
    await owner.append([factAt(seq + 1, { text: `${text} ${seq + 1}` })], { sync: true })
    await owner.append([factAt(seq + 2, { text: `${text} ${seq + 2}` })], { sync: true })
    await owner.close()
  }
}

const segment = (number: number) => join(log, `00000${number + 1}.jsonl.zst`)

async function salvaged(store: Store = fixture.store, id = 'whole') {
  const salvage = await store.salvage(id)
  const facts: Fact[] = []
  for await (const fact of salvage.facts) facts.push(fact)
  const blobs: string[] = []
  for await (const bytes of salvage.blobs) blobs.push(Buffer.from(bytes).toString())
  const { header, missing, lostBlobs } = salvage
  return { header, facts, missing, blobs, lostBlobs }
}

/** What a view gives, and whether it or the reading says that something is wrong. */
async function readThrough() {
  const read: Fact[] = []
  try {
    const view = await fixture.store.open('whole', { mode: 'read' })
    for await (const fact of view.read(0)) read.push(fact)
    return { read, told: view.notices.length > 0 }
  } catch (error) {
    expect((error as { code?: string }).code).toBe('STORE_DAMAGED')
    return { read, told: true }
  }
}

/** Segments count from 1 here; the first file of the log only has the header. */
async function spoil(number: number, change: (bytes: Buffer, frames: Frame[]) => Buffer) {
  const bytes = await readFile(segment(number))
  await writeFile(segment(number), change(bytes, framesOf(bytes)))
}

function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  while ((frames.at(-1)?.end ?? 0) < bytes.length) {
    const frame = decodeFrame(bytes, frames.at(-1)?.end ?? 0, 'zstd')
    if ('problem' in frame) throw new Error(frame.reason)
    frames.push(frame)
  }
  return frames
}

const batchesOf = (frames: readonly Frame[]) => frames.filter(({ meta }) => meta.kind === 'facts')

interface Case {
  readonly spoil: () => Promise<void>
  /** Facts that cannot be read: the first one, and the one after the last. */
  /** No part of the session by its seal, so that nobody need be told. */
  readonly unseen?: boolean
  readonly lost?: readonly [from: number, to: number | undefined, reason: RegExp]
}

const cases: Record<string, Case> = {
  'a zeroed block inside a batch': {
    spoil: () =>
      spoil(2, (bytes, frames) => {
        const [, batch] = batchesOf(frames)
        return Buffer.from(bytes).fill(0, batch?.start, (batch?.start ?? 0) + 64)
      }),
    lost: [4, 5, /^segment 3 holds no frame where one begins at byte \d+$/],
  },
  'a payload that was changed': {
    spoil: () => spoil(2, (bytes, frames) => flip(bytes, (batchesOf(frames)[0]?.end ?? 0) - 4)),
    lost: [3, 4, /^segment 3 holds a payload that was changed at byte \d+$/],
  },
  'a segment that is zeroed': {
    spoil: () => spoil(2, (bytes) => Buffer.alloc(bytes.length)),
    lost: [3, 6, /^segment 3 holds no frame/],
  },
  'a segment cut inside a batch': {
    spoil: () =>
      spoil(2, (bytes, frames) => bytes.subarray(0, (batchesOf(frames)[1]?.end ?? 0) - 9)),
    lost: [4, 6, /^segment 3 ends in the middle of a batch at byte \d+$/],
  },
  'a batch that is gone': {
    spoil: () =>
      spoil(2, (bytes, frames) => {
        const [, batch] = batchesOf(frames)
        return Buffer.concat([bytes.subarray(0, batch?.start), bytes.subarray(batch?.end)])
      }),
    lost: [4, 5, /^the batch that held them is gone$/],
  },
  'a segment that is gone': {
    spoil: () => rm(segment(2)),
    lost: [3, 6, /^nothing is left of segment 3$/],
  },
  'the end of the newest segment gone': {
    spoil: () =>
      spoil(4, (bytes, frames) => bytes.subarray(0, (batchesOf(frames)[2]?.end ?? 0) - 3)),
    lost: [11, 12, /^segment 5 ends in the middle of a batch/],
  },
  'rubbish after the newest batch': {
    spoil: () => spoil(4, (bytes) => Buffer.concat([bytes, Buffer.alloc(4096)])),
    lost: [12, undefined, /^segment 5 holds no frame/],
  },
  'the first facts gone': {
    spoil: () => rm(segment(1)),
    lost: [0, 3, /^nothing is left of segment/],
  },
  'a file of another session in the place of a segment': {
    spoil: async () => {
      await grow('other', 'foreign')
      await writeFile(segment(2), await readFile(segment(2).replace('/whole/', '/other/')))
    },
    lost: [3, 6, /^segment 3 holds a part of session other at byte 0/],
  },
  'a batch that is there twice': {
    spoil: () =>
      spoil(2, (bytes, frames) => {
        const [batch] = batchesOf(frames)
        return Buffer.concat([
          bytes.subarray(0, batch?.end),
          bytes.subarray(batch?.start, batch?.end),
          bytes.subarray(batch?.end),
        ])
      }),
  },
  'two batches that changed places': {
    spoil: () =>
      spoil(2, (bytes, frames) => {
        const [, a, b] = batchesOf(frames)
        return Buffer.concat([
          bytes.subarray(0, a?.start),
          bytes.subarray(b?.start, b?.end),
          bytes.subarray(a?.start, a?.end),
        ])
      }),
  },
  'two segments that changed places': {
    spoil: async () => {
      await rename(segment(2), `${segment(2)}.x`)
      await rename(segment(3), segment(2))
      await rename(`${segment(2)}.x`, segment(3))
    },
  },
  'a segment that is there twice': {
    spoil: async () => writeFile(join(log, '000009.jsonl.zst'), await readFile(segment(2))),
  },
  'two files for one number': {
    spoil: async () => {
      const bytes = await readFile(segment(2))
      const frames = framesOf(bytes).map((frame) => {
        const payload = bytes.subarray(frame.payload, frame.payloadEnd)
        return encodeFrame({ ...frame.meta, prev: 'other' }, payload, 'none').bytes
      })
      await writeFile(segment(2).replace('.zst', ''), Buffer.concat(frames))
    },
  },
  'late bytes of an owner that was fenced out': {
    unseen: true,
    spoil: () =>
      spoil(2, (bytes, frames) => {
        const last = frames.at(-1)
        if (!last) throw new Error('no frames')
        const payload = bytes.subarray(last.payload, last.payloadEnd)
        const meta = { ...last.meta, from: 6, to: 7, prev: last.check }
        return Buffer.concat([bytes, encodeFrame(meta, payload, 'zstd').bytes])
      }),
  },
}

describe('a session is salvaged from', () => {
  for (const [what, { spoil: change, lost, unseen = false }] of Object.entries(cases)) {
    it(`${what}, on both sides of it`, async () => {
      const all = factsFrom(0, 12)
      await change()
      const before = await contentsOf(fixture.root)
      const { header, facts, missing } = await salvaged()
      const [from = 12, to = 12, reason = /^$/] = lost ?? []
      const found = missing.map((one) => [one.from, one.to, one.reason])
      expect(found).toEqual(lost ? [[from, lost[1], expect.stringMatching(reason)]] : [])
      expect(facts).toEqual([...all.slice(0, from), ...all.slice(to)])
      expect(header).toEqual(headerFor('whole'))
      const { read, told } = await readThrough()
      expect(read).toEqual(all.slice(0, read.length))
      expect(told).toBe(!unseen)
      if (unseen) expect(read).toEqual(all)
      expect(await contentsOf(fixture.root)).toEqual(before)
    })
  }

  it('several damages at once, each of them named', async () => {
    await spoil(1, (bytes, frames) => flip(bytes, (batchesOf(frames)[1]?.end ?? 0) - 4))
    await spoil(3, (bytes, frames) => flip(bytes, (batchesOf(frames)[0]?.start ?? 0) + 20))
    await spoil(4, (bytes, frames) => bytes.subarray(0, batchesOf(frames)[1]?.end))
    const { facts, missing } = await salvaged()
    expect(missing.map(({ from, to }) => [from, to])).toEqual([
      [1, 2],
      [6, 7],
    ])
    expect(facts.map(({ seq }) => seq)).toEqual([0, 2, 3, 4, 5, 7, 8, 9, 10])
  })

  it('a log whose header is lost, and from blobs of which one is', async () => {
    const owner = await fixture.store.create(headerFor('alone'))
    const hash = await owner.putBlob(Buffer.from('kept'))
    const lost = await owner.putBlob(Buffer.from('lost'))
    await owner.append(factsFrom(0, 2), { sync: true })
    await owner.close()
    const folder = join(fixture.root, 'sessions/alone')
    const path = join(folder, 'log/000001.jsonl.zst')
    await writeFile(path, flip(await readFile(path), 30))
    await writeFile(join(folder, 'blobs', lost), 'last')
    await writeFile(join(folder, 'blobs', 'notes.txt'), 'not a blob')
    expect(await codeOf(fixture.store.open('alone', { mode: 'read' }))).toBe('STORE_DAMAGED')
    const { header, facts, blobs, lostBlobs } = await salvaged(fixture.store, 'alone')
    expect([header, facts]).toEqual([undefined, factsFrom(0, 2)])
    expect([blobs, lostBlobs]).toEqual([['kept'], [lost]])
    expect(await readdir(join(folder, 'blobs'))).toContain(hash)
  })

  it('a fork, where a segment that it shares is damaged', async () => {
    const child = await fixture.store.fork('whole', headerFor('child'), { before: 11 })
    await child.append([factAt(11, 'mine')], { sync: true })
    await child.close()
    await spoil(2, (bytes, frames) => flip(bytes, (batchesOf(frames)[1]?.end ?? 0) - 4))
    const { header, facts, missing } = await salvaged(fixture.store, 'child')
    expect(header).toEqual(headerFor('child'))
    expect(missing.map(({ from, to }) => [from, to])).toEqual([[4, 5]])
    expect(facts).toEqual([...factsFrom(0, 4), ...factsFrom(5, 6), factAt(11, 'mine')])
  })

  it.each(['whole', 'between'])(
    'a fork of %s, whatever is damaged in the segment that says what it shares',
    async (parent) => {
      const forkOf = (id: string) => ({ parent: { id, kind: 'fork', seq: 11 } }) as const
      const between = headerFor('between', forkOf('whole'))
      await (await fixture.store.fork('whole', between, { before: 12 })).close()
      const header = headerFor('child', forkOf(parent))
      const child = await fixture.store.fork(parent, header, { before: 11 })
      await child.append([factAt(11, 'mine')], { sync: true })
      await child.close()
      const files = await fixture.logFiles('child')
      const own = files.at(-2) ?? ''
      const bytes = await readFile(own)
      const shared = framesOf(bytes)[0]?.meta.from ?? 0
      expect(shared).toBeGreaterThan(8)
      for (const { start, end, meta } of framesOf(bytes)) {
        for (const at of [start, end - 4]) {
          await writeFile(own, flip(bytes, at))
          const found = await salvaged(fixture.store, 'child')
          expect(found.header, meta.kind).toEqual(header)
          expect(found.facts.slice(0, shared), meta.kind).toEqual(factsFrom(0, shared))
          expect(found.facts.at(-1), meta.kind).toEqual(factAt(11, 'mine'))
        }
      }
    },
  )

  it('a fork that nobody went on with, whose header is lost with its seals', async () => {
    const header = headerFor('child', { parent: { id: 'whole', kind: 'fork', seq: 11 } })
    await (await fixture.store.fork('whole', header, { before: 11 })).close()
    const own = (await fixture.logFiles('child')).at(-1) ?? ''
    await writeFile(own, flip(await readFile(own), 30))
    const found = await salvaged(fixture.store, 'child')
    expect([found.header, found.facts, found.missing]).toEqual([undefined, factsFrom(0, 11), []])
  })

  it('nothing of a log that is empty, and says that all of it is missing', async () => {
    for (const name of await readdir(log)) await writeFile(join(log, name), '')
    const { facts, missing } = await salvaged()
    expect(facts).toEqual([])
    expect(missing).toEqual([{ from: 0, to: undefined, reason: expect.any(String) }])
  })

  it('nothing that is not there', async () => {
    await mkdir(join(fixture.root, 'sessions/empty/log'), { recursive: true })
    const { facts, missing, header } = await salvaged(fixture.store, 'empty')
    expect([facts, missing.length, header]).toEqual([[], 1, undefined])
    await mkdir(join(fixture.root, 'sessions/folder'))
    expect(await codeOf(fixture.store.salvage('folder'))).toBe('SESSION_NOT_FOUND')
  })
})
