import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { SessionLog } from '@cordage/core/store'
import { factAt, headerFor } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Fixture, makeFixture } from './fixtures.ts'

const segmentMaxBytes = 40_000
let fixture: Fixture
beforeEach(async () => {
  fixture = await makeFixture({ segmentMaxBytes })
})
afterEach(() => fixture.dispose())

/** Appends facts of some 1,000 bytes, with the snapshots that are wanted; gives their number. */
async function fill(log: SessionLog, facts: number, snapshotBytes: number): Promise<number> {
  let snapshots = 0
  for (let seq = 0; seq < facts; seq += 1) {
    const state = log.wantsSnapshot ? randomBytes(snapshotBytes / 2).toString('hex') : undefined
    if (state !== undefined) snapshots += 1
    const more = state === undefined ? {} : { snapshot: { seq, state } }
    const fact = factAt(seq, { text: randomBytes(500).toString('hex') })
    await log.append([fact], { sync: false, ...more })
  }
  return snapshots
}

async function sizes(id: string): Promise<number[]> {
  const files = await fixture.logFiles(id)
  return Promise.all(files.map(async (path) => (await stat(path)).size))
}

describe('snapshots', () => {
  it('are taken within a segment, so that little of it is folded when it is opened', async () => {
    const log = await fixture.store.create(headerFor('long'))
    await fill(log, 300, 500)
    await log.close()
    const opened = await fixture.store.open('long', { mode: 'read' })
    expect(opened.snapshot?.seq).toBeGreaterThan(270)
    expect(opened.tail.length).toBe(300 - (opened.snapshot?.seq ?? 0))
    await opened.close()
  })

  it('larger than a segment are not written for each batch, nor cost more than the facts', async () => {
    const log = await fixture.store.create(headerFor('large'))
    const snapshots = await fill(log, 600, 4 * segmentMaxBytes)
    await log.close()
    const all = await sizes('large')
    const bytes = all.reduce((sum, size) => sum + size, 0)
    expect(snapshots).toBeLessThan(10)
    expect(all.length).toBeLessThan(10)
    const facts = bytes - (snapshots * 4 * segmentMaxBytes) / 2
    expect(bytes).toBeLessThan(facts * 3)
    const opened = await fixture.store.open('large', { mode: 'write' })
    expect((opened.snapshot?.seq ?? 0) + opened.tail.length).toBe(600)
    expect(opened.wantsSnapshot).toBe(true)
    await opened.close()
  })
})
