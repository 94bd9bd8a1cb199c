import { readFile, writeFile } from 'node:fs/promises'
import type { Fact } from '@cordage/core/session'
import { codeOf, factAt, factsFrom, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decodeFrame, type Frame } from '../src/frame.ts'
import { contentsOf, type Fixture, makeFixture } from './fixtures.ts'
import { codeOfError, expectAside, flip, planted, smallLog } from './small-log.ts'

let fixture: Fixture
beforeEach(async () => {
  fixture = await makeFixture()
})
afterEach(() => fixture.dispose())

describe('damage in the middle', () => {
  it('leaves a view of what is before, and every byte where it was', async () => {
    const { bytes, frames } = await smallLog('zstd')
    const { store, folder } = await planted(fixture, 'zstd', flip(bytes, (frames[2]?.end ?? 0) - 5))
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
      const { store } = await planted(fixture, 'zstd', spoil(bytes, frames))
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
      const { store, folder } = await planted(fixture, 'zstd', Buffer.concat([bytes, end]))
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

async function partOf(facts: AsyncIterable<Fact>): Promise<{ facts: Fact[]; code?: string }> {
  const read: Fact[] = []
  try {
    for await (const fact of facts) read.push(fact)
    return { facts: read }
  } catch (error) {
    return { facts: read, code: codeOfError(error) }
  }
}
