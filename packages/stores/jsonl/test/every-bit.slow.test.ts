import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Fact } from '@cordage/core/session'
import { factAt, factsFrom, headerFor } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decodeFrame } from '../src/frame.ts'
import { createJsonlStore } from '../src/store.ts'
import { type Fixture, makeFixture } from './fixtures.ts'
import { readOnlyIo } from './memory-io.ts'
import { codeOfError, flip } from './small-log.ts'

const all = factsFrom(0, 6)
let fixture: Fixture
beforeEach(async () => {
  fixture = await makeFixture()
})
afterEach(() => fixture.dispose())

/** Three segments: facts 0 and 1 in one batch each, then 2 to 3 in one, then 4 and 5; snapshots. */
async function segments(compression: 'zstd' | 'none'): Promise<Map<string, Buffer>> {
  const store = fixture.another({ compression })
  let log = await store.create(headerFor('small'))
  await log.append([factAt(0)], { sync: true })
  await log.append([factAt(1)], { sync: true })
  for (const seq of [2, 4]) {
    await log.close()
    log = await store.open('small', { mode: 'write' })
    await log.append(factsFrom(seq, 2), { sync: true, snapshot: { seq, state: { seq } } })
  }
  await log.close()
  const paths = await fixture.logFiles('small')
  const read = paths.map(async (path) => {
    return [`/root/small/log/${basename(path)}`, await readFile(path)] as const
  })
  return new Map(await Promise.all(read))
}

function storeOf(files: ReadonlyMap<string, Buffer>) {
  const io = readOnlyIo(files)
  return createJsonlStore({ directory: '/root', segmentMaxBytes: 1e6, compression: 'zstd', io })
}

/** What a reader is told: the facts, and whether something is wrong. */
async function readThrough(files: ReadonlyMap<string, Buffer>) {
  const facts: Fact[] = []
  try {
    const view = await storeOf(files).open('small', { mode: 'read' })
    const { notices, tail, snapshot } = view
    expect(tail).toEqual(all.slice(snapshot?.seq ?? 0).slice(0, tail.length))
    for await (const fact of view.read(0)) facts.push(fact)
    return { facts, told: notices.length > 0 }
  } catch (error) {
    expect(codeOfError(error)).toBe('STORE_DAMAGED')
    return { facts, told: true }
  }
}

async function salvageOf(files: ReadonlyMap<string, Buffer>) {
  const salvage = await storeOf(files).salvage('small')
  const facts: Fact[] = []
  for await (const fact of salvage.facts) facts.push(fact)
  return { facts, missing: salvage.missing }
}

/** Exactly what is missing is named, and everything else is there as it was. */
async function checkSalvage(files: ReadonlyMap<string, Buffer>, what: string): Promise<void> {
  const { facts, missing } = await salvageOf(files)
  const isLost = (seq: number) =>
    missing.some(({ from, to }) => seq >= from && seq < (to ?? Infinity))
  const kept = all.filter(({ seq }) => !isLost(seq))
  if (JSON.stringify(facts) !== JSON.stringify(kept)) {
    expect.unreachable(
      `${what}: ${JSON.stringify({ facts: facts.map(({ seq }) => seq), missing })}`,
    )
  }
}

/** Whether the byte lies in a snapshot that a newer one makes needless: no reader looks at it. */
function isNeedless(files: ReadonlyMap<string, Buffer>, path: string, at: number): boolean {
  const bytes = files.get(path) ?? Buffer.alloc(0)
  const encoding = path.endsWith('.zst') ? 'zstd' : 'none'
  if (path === [...files.keys()].at(-1)) return false
  for (let start = 0; start < bytes.length;) {
    const frame = decodeFrame(bytes, start, encoding)
    if ('problem' in frame) return false
    if (at < frame.end) return frame.meta.kind === 'snapshot' && at >= frame.payload
    start = frame.end
  }
  return false
}

describe.each(['zstd', 'none'] as const)('a log of several segments (%s)', (compression) => {
  it('of which any bit is flipped says so, and salvage loses only what it names', async () => {
    const files = await segments(compression)
    const flips = [...files].flatMap(([path, bytes]) => {
      return Array.from({ length: bytes.length * 8 }, (_, bit) => ({ path, bit }))
    })
    // Several at once: each alone would wait for a thread that inflates.
    for (let from = 0; from < flips.length; from += 16) {
      const some = flips.slice(from, from + 16)
      await Promise.all(some.map(({ path, bit }) => checkFlip(files, path, bit)))
    }
    expect(flips.length).toBeGreaterThan(10_000)
  })

  it('of which any file is cut anywhere keeps every whole batch', async () => {
    const files = await segments(compression)
    for (const [path, bytes] of files) {
      for (let cut = 0; cut < bytes.length; cut++) {
        const changed = new Map(files)
        changed.set(path, bytes.subarray(0, cut))
        const what = `${basename(path)} cut at ${cut}`
        const { facts, told } = await readThrough(changed)
        expect(facts, what).toEqual(all.slice(0, facts.length))
        const [summary] = await storeOf(changed).list()
        expect(summary?.header.id, what).toBe('small')
        if (path === [...files.keys()].at(-1)) {
          await checkNewest(changed, { path, bytes, cut })
          continue
        }
        expect(told, what).toBe(facts.length < all.length)
        await checkSalvage(changed, what)
      }
    }
  })
})

async function checkFlip(
  files: ReadonlyMap<string, Buffer>,
  path: string,
  bit: number,
): Promise<void> {
  const changed = new Map(files)
  changed.set(path, flip(files.get(path) ?? Buffer.alloc(0), bit >> 3, 1 << (bit & 7)))
  const what = `${basename(path)} bit ${bit}`
  const { facts, told } = await readThrough(changed)
  const sound = JSON.stringify(facts) === JSON.stringify(all.slice(0, facts.length))
  const noticed = told || isNeedless(files, path, bit >> 3)
  const whole = facts.length === all.length || told
  if (!sound || !noticed || !whole) expect.unreachable(`${what}: ${facts.length} ${told}`)
  // Every bit of a byte in turn: all of them would take minutes.
  if (bit % 9 === 0) await checkSalvage(changed, what)
}

/** Of the end of a log nobody can know what there was, but where a batch stands torn. */
async function checkNewest(
  files: ReadonlyMap<string, Buffer>,
  { path, bytes, cut }: { path: string; bytes: Buffer; cut: number },
): Promise<void> {
  const encoding = path.endsWith('.zst') ? 'zstd' : 'none'
  let kept = 4
  let end = 0
  for (let start = 0; start < bytes.length;) {
    const frame = decodeFrame(bytes, start, encoding)
    if ('problem' in frame || frame.end > cut) break
    start = frame.end
    end = start
    kept = frame.meta.to
  }
  const { facts, missing } = await salvageOf(files)
  expect(facts, `cut at ${cut}`).toEqual(all.slice(0, kept))
  expect(
    missing.map(({ from }) => from),
    `cut at ${cut}`,
  ).toEqual(end === cut ? [] : [kept])
}
