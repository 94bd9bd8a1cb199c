import { readFile } from 'node:fs/promises'
import type { Fact } from '@cordage/core/session'
import { factAt, factsFrom, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Frame } from '../src/frame.ts'
import { scanSegment } from '../src/scan.ts'
import { type Fixture, makeFixture } from './fixtures.ts'
import { codeOfError, expectAside, flip, planted, smallLog } from './small-log.ts'

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
      const { store, folder } = await planted(fixture, encoding, bytes.subarray(0, cut))
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
      const { store, file } = await planted(fixture, encoding, flipped)
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

/** What lies whole before `cut`: the facts, and where the last batch ends. */
function wholeUntil(frames: readonly Frame[], cut: number): { kept: Fact[]; end: number } {
  const last = frames.findLast(({ end }) => end <= cut)
  return { kept: factsFrom(0, last?.meta.to ?? 0), end: last?.end ?? 0 }
}
