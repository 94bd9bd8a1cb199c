import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Io } from '@cordage/core/store'
import { factsFrom, headerFor } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Fixture, hastyIo, makeFixture } from './fixtures.ts'

let fixture: Fixture
let read: string[]
/** The real disk, and the files that were opened to be read. */
const watchingIo: Io = {
  ...hastyIo,
  open: (path, mode) => {
    if (mode === 'read') read.push(basename(path))
    return hastyIo.open(path, mode)
  },
}
beforeEach(async () => {
  fixture = await makeFixture({ io: watchingIo, segmentMaxBytes: 2_000 })
  read = []
})
afterEach(() => fixture.dispose())

const lane = () => join(fixture.root, 'sessions/one/live.jsonl')
const readLanes = () => read.splice(0).filter((name) => name === 'live.jsonl').length

describe('deltas', () => {
  it('are read once, for recovery, and in nothing else that one does with a session', async () => {
    const log = await fixture.store.create(headerFor('one'))
    await log.append(factsFrom(0, 1), { sync: true })
    log.appendLive([{ text: 'partial' }])
    await log.close()
    read = []
    await fixture.store.list()
    expect(readLanes()).toBe(0)
    const again = await fixture.store.open('one', { mode: 'write' })
    expect(again.live).toEqual([{ text: 'partial' }])
    expect(readLanes()).toBe(1)
    for await (const fact of again.read(0)) expect(fact.seq).toBe(0)
    await again.append(factsFrom(1, 1), { sync: true })
    await again.close()
    expect(readLanes()).toBe(0)
  })

  it('take so much room and no more, until they are facts', async () => {
    const log = await fixture.store.create(headerFor('one'))
    const text = 'x'.repeat(1024 * 1024)
    for (let count = 0; count < 10; count += 1) log.appendLive([{ count, text }])
    await log.close()
    expect((await stat(lane())).size).toBeLessThan(8 * 1024 * 1024)
    const again = await fixture.store.open('one', { mode: 'write' })
    expect(again.live.length).toBe(7)
    again.rotateLive()
    again.appendLive([{ text }])
    await again.close()
    expect((await fixture.store.open('one', { mode: 'read' })).live).toEqual([{ text }])
  })
})

it('opening reads the newest segment, however many there are', async () => {
  const log = await fixture.store.create(headerFor('one'))
  for (let seq = 0; seq < 200; seq += 1) {
    const snapshot = log.wantsSnapshot ? { snapshot: { seq, state: { seq } } } : {}
    await log.append(factsFrom(seq, 1), { sync: false, ...snapshot })
  }
  await log.close()
  const files = (await fixture.logFiles('one')).map((path) => basename(path))
  expect(files.length).toBeGreaterThan(20)
  read = []
  await (await fixture.store.open('one', { mode: 'write' })).close()
  expect(new Set(read.filter((name) => name.endsWith('.zst')))).toEqual(new Set(files.slice(-1)))
})
