import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HarnessError } from '@cordage/core/error'
import type { Fact } from '@cordage/core/session'
import { codeOf, factAt, factsFrom, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decodeFrame, type Frame } from '../src/frame.ts'
import { scanSegment } from '../src/scan.ts'
import type { JsonlStore } from '../src/store.ts'
import { contentsOf, type Fixture, makeFixture } from './fixtures.ts'

let fixture: Fixture
beforeEach(async () => {
  fixture = await makeFixture()
})
afterEach(() => fixture.dispose())

const encodings = ['zstd', 'none'] as const

describe.each(encodings)('a log (%s) cut at any byte', (encoding) => {
  it('holds every whole batch', async () => {
    const { bytes, frames } = await smallLog(encoding)
    for (let cut = 0; cut < bytes.length; cut++) {
      const scan = scanSegment(bytes.subarray(0, cut), { session: 'small', segment: 1, encoding })
      const whole = frames.filter(({ end }) => end <= cut)
      expect(scan.frames, `cut ${cut}`).toEqual(whole)
      expect(scan.problem?.problem, `cut ${cut}`).toBe(cut === scan.end ? undefined : 'torn')
      expect(scan.survivors, `cut ${cut}`).toBe(false)
    }
  })

  it('is listed, shown, and gone on with after what is torn was set aside', async () => {
    const { bytes, frames } = await smallLog(encoding)
    const ends = frames.flatMap(({ end }) => [end - 1, end, end + 1])
    const some = Array.from({ length: bytes.length / 29 }, (_, index) => index * 29)
    for (const cut of [...some, ...ends.filter((end) => end < bytes.length)]) {
      const { store, folder } = await planted(encoding, bytes.subarray(0, cut))
      const { kept, end } = wholeUntil(frames, cut)
      const [summary] = await store.list()
      expect(summary?.damaged !== undefined, `cut ${cut}`).toBe(end === 0)
      const view = await store.open('small', { mode: 'read' }).catch(codeOfError)
      const notices = cut === end ? [] : [expect.any(String)]
      if (end === 0) expect(view, `cut ${cut}`).toBe('STORE_DAMAGED')
      else expect(view, `cut ${cut}`).toMatchObject({ tail: kept, notices })
      if (end === 0) continue
      const log = await store.open('small', { mode: 'write' })
      expect(log.tail, `cut ${cut}`).toEqual(kept)
      await log.append([factAt(kept.length)], { sync: true })
      expect(await readAll(log), `cut ${cut}`).toEqual(factsFrom(0, kept.length + 1))
      await log.close()
      await expectAside(folder, cut === end ? undefined : bytes.subarray(end, cut))
    }
  })
})

describe.each(encodings)('a log (%s) with any bit flipped', (encoding) => {
  it('holds what is before the flip, and never anything else', async () => {
    const { bytes, frames } = await smallLog(encoding)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = flip(bytes, bit >> 3, 1 << (bit & 7))
      const scan = scanSegment(flipped, { session: 'small', segment: 1, encoding })
      const hit = frames.findIndex(({ end }) => bit >> 3 < end)
      const same =
        scan.frames.length === hit &&
        scan.end === frames[hit]?.start &&
        scan.problem !== undefined &&
        scan.survivors === hit < frames.length - 1
      if (!same) expect.unreachable(`bit ${bit} is not noticed: ${JSON.stringify(scan)}`)
    }
  })

  it('says so, and is only gone on with when nothing stands behind the flip', async () => {
    const { bytes, frames } = await smallLog(encoding)
    for (let bit = 0; bit < bytes.length * 8; bit += 61) {
      const flipped = flip(bytes, bit >> 3, 1 << (bit & 7))
      const { store, file } = await planted(encoding, flipped)
      const hit = frames.findIndex(({ end }) => bit >> 3 < end)
      const view = await store.open('small', { mode: 'read' }).catch(codeOfError)
      const kept = factsFrom(0, frames[hit - 1]?.meta.to ?? 0)
      if (hit === 0) expect(view, `bit ${bit}`).toBe('STORE_DAMAGED')
      else expect(view, `bit ${bit}`).toMatchObject({ tail: kept, notices: [expect.any(String)] })
      const opened = await store.open('small', { mode: 'write' }).catch(codeOfError)
      if (hit < frames.length - 1) expect(opened, `bit ${bit}`).toBe('STORE_DAMAGED')
      else expect(opened, `bit ${bit}`).toMatchObject({ tail: kept, mode: 'write' })
      if (typeof opened !== 'string') await opened.close()
      expect((await readFile(file)).equals(flipped), `bit ${bit}`).toBe(true)
    }
  })
})

describe('damage in the middle', () => {
  it('leaves a view of what is before, and every byte where it was', async () => {
    const { bytes, frames } = await smallLog('zstd')
    const { store, folder } = await planted('zstd', flip(bytes, (frames[2]?.end ?? 0) - 5))
    const before = await contentsOf(folder)
    expect(await codeOf(store.open('small', { mode: 'write' }))).toBe('STORE_DAMAGED')
    const view = await store.open('small', { mode: 'read' })
    expect(view.tail).toEqual(factsFrom(0, 1))
    expect(view.notices[0]).toMatch(/^Damaged: segment 1 .* byte \d+.* before number 1 are shown/)
    expect(await partOf(view.read(0))).toEqual({ facts: factsFrom(0, 1), code: 'STORE_DAMAGED' })
    expect(await contentsOf(folder)).toEqual(before)
  })

  const blocks: Record<string, (bytes: Buffer, frames: readonly Frame[]) => Buffer> = {
    'a zeroed block': (bytes, frames) => {
      const copy = Buffer.from(bytes)
      return copy.fill(0, frames[2]?.start, (frames[2]?.start ?? 0) + 64)
    },
    'a batch that is there twice': (bytes, [, , frame]) => {
      const copy = bytes.subarray(frame?.start, frame?.end)
      return Buffer.concat([bytes.subarray(0, frame?.end), copy, bytes.subarray(frame?.end)])
    },
    'two batches that changed places': (bytes, [, a, b]) =>
      Buffer.concat([
        bytes.subarray(0, a?.start),
        bytes.subarray(b?.start, b?.end),
        bytes.subarray(a?.start, a?.end),
        bytes.subarray(b?.end),
      ]),
    'a batch that is gone': (bytes, [, , frame]) =>
      Buffer.concat([bytes.subarray(0, frame?.start), bytes.subarray(frame?.end)]),
  }
  for (const [what, spoil] of Object.entries(blocks)) {
    it(`notices ${what}`, async () => {
      const { bytes, frames } = await smallLog('zstd')
      const { store } = await planted('zstd', spoil(bytes, frames))
      expect(await codeOf(store.open('small', { mode: 'write' }))).toBe('STORE_DAMAGED')
      const view = await store.open('small', { mode: 'read' })
      expect(view.notices).toHaveLength(1)
      expect(factsFrom(0, 4).slice(0, view.tail.length)).toEqual(view.tail)
    })
  }

  it('sets a doubled or zeroed end aside and goes on', async () => {
    const { bytes, frames } = await smallLog('zstd')
    const last = bytes.subarray(frames.at(-1)?.start)
    for (const end of [last, Buffer.alloc(4096)]) {
      const { store, folder } = await planted('zstd', Buffer.concat([bytes, end]))
      const log = await store.open('small', { mode: 'write' })
      expect(log.tail).toEqual(factsFrom(0, 4))
      expect(log.notices).toHaveLength(1)
      await log.append([factAt(4)], { sync: true })
      expect(await readAll(log)).toEqual(factsFrom(0, 5))
      await log.close()
      await expectAside(folder, end)
    }
  })
})

describe('segments in the wrong place', () => {
  it('notices a changed, cut, swapped or missing segment when it is read', async () => {
    const { store } = fixture
    for (const what of ['changed', 'cut', 'swapped', 'missing', 'foreign'] as const) {
      const files = await manySegments(what)
      const [first = '', second = ''] = files
      const bytes = await readFile(second)
      if (what === 'changed') await writeFile(second, flip(bytes, bytes.length - 9))
      if (what === 'cut') await writeFile(second, bytes.subarray(0, -40))
      if (what === 'swapped') {
        await writeFile(second, await readFile(first))
        await writeFile(first, bytes)
      }
      if (what === 'missing') await writeFile(second, '')
      if (what === 'foreign') {
        const [, other = ''] = await manySegments('somebody')
        await writeFile(second, await readFile(other))
      }
      const log = await store.open(what, { mode: 'write' })
      const { facts, code } = await partOf(log.read(0))
      expect(code, what).toBe('STORE_DAMAGED')
      expect(facts, what).toEqual(factsFrom(0, facts.length))
      expect(await readAll(log, 6), what).toEqual(factsFrom(6, 3))
      await log.close()
    }
  })

  it('does without a snapshot that is damaged', async () => {
    const files = await manySegments('snapshot')
    const newest = files.at(-1) ?? ''
    const bytes = await readFile(newest)
    const seal = decodeFrame(bytes, 0, 'zstd')
    const snapshot = 'end' in seal && decodeFrame(bytes, seal.end, 'zstd')
    if (!snapshot || 'problem' in snapshot) throw new Error('no snapshot where one was written')
    await writeFile(newest, flip(bytes, snapshot.end - 3))
    const log = await fixture.store.open('snapshot', { mode: 'write' })
    expect(log.snapshot?.seq).toBe(3)
    expect(log.tail).toEqual(factsFrom(3, 6))
    expect(log.notices).toHaveLength(1)
    expect(await readAll(log)).toEqual(factsFrom(0, 9))
    await log.close()
  })
})

/** Header and three batches: facts 0, 1, 2 and 3 to 4. */
async function smallLog(
  compression: 'zstd' | 'none',
): Promise<{ bytes: Buffer; frames: readonly Frame[] }> {
  const source = await makeFixture({ compression })
  const log = await source.store.create(headerFor('small'))
  await log.append(factsFrom(0, 1), { sync: true })
  await log.append(factsFrom(1, 1), { sync: true })
  await log.append(factsFrom(2, 2), { sync: true })
  await log.close()
  const bytes = await readFile((await source.logFiles('small'))[0] ?? '')
  await source.dispose()
  const frames: Frame[] = []
  while ((frames.at(-1)?.end ?? 0) < bytes.length) {
    const frame = decodeFrame(bytes, frames.at(-1)?.end ?? 0, compression)
    if ('problem' in frame) throw new Error(frame.reason)
    frames.push(frame)
  }
  return { bytes, frames }
}

/** What lies whole before `cut`: the facts, and where the last batch ends. */
function wholeUntil(frames: readonly Frame[], cut: number): { kept: Fact[]; end: number } {
  const last = frames.findLast(({ end }) => end <= cut)
  return { kept: factsFrom(0, last?.meta.to ?? 0), end: last?.end ?? 0 }
}

let plantings = 0

/** A root of its own with these bytes as the only segment of session `small`. */
async function planted(compression: 'zstd' | 'none', bytes: Buffer): Promise<Planted> {
  const directory = join(fixture.root, `planted-${plantings++}`)
  const folder = join(directory, 'small')
  await mkdir(join(folder, 'log'), { recursive: true })
  const file = join(folder, 'log', compression === 'zstd' ? '000001.jsonl.zst' : '000001.jsonl')
  await writeFile(file, bytes)
  return { store: fixture.another({ directory, compression }), folder, file }
}

interface Planted {
  readonly store: JsonlStore
  readonly folder: string
  readonly file: string
}

/** Three segments of three facts each, every later one with a snapshot. */
async function manySegments(id: string): Promise<string[]> {
  await (await fixture.store.create(headerFor(id))).close()
  for (let seq = 0; seq < 9; seq += 3) {
    const log = await fixture.store.open(id, { mode: 'write' })
    await log.append(factsFrom(seq, 3), { sync: true, snapshot: { seq, state: { seq } } })
    await log.close()
  }
  return (await fixture.logFiles(id)).slice(1)
}

function flip(bytes: Buffer, at: number, mask = 4): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ mask
  return copy
}

function codeOfError(error: unknown): string {
  return (error as HarnessError).code
}

async function partOf(facts: AsyncIterable<Fact>): Promise<{ facts: Fact[]; code?: string }> {
  const read: Fact[] = []
  try {
    for await (const fact of facts) read.push(fact)
    return { facts: read }
  } catch (error) {
    return { facts: read, code: codeOfError(error) }
  }
}

async function expectAside(session: string, bytes: Buffer | undefined): Promise<void> {
  const folder = join(session, 'aside')
  const names = await readdir(folder).catch(() => [])
  const kept = await Promise.all(names.map((name) => readFile(join(folder, name))))
  expect(kept).toEqual(bytes ? [bytes] : [])
}
