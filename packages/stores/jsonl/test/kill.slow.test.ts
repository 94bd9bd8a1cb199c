import { join } from 'node:path'
import { factsFrom, headerFor, readAll } from '@cordage/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Fixture, makeFixture } from './fixtures.ts'
import { type Owner, startOwner } from './processes.ts'

let fixture: Fixture
let owners: Owner[]
beforeEach(async () => {
  owners = []
  fixture = await makeFixture({ segmentMaxBytes: 20_000 })
})
afterEach(async () => {
  await Promise.all(owners.map((owner) => owner.kill()))
  await fixture.dispose()
})

describe('a process that is killed while it appends', () => {
  it('loses nothing that it acknowledged, 20 times over', { timeout: 120_000 }, async () => {
    const sessions = ['a', 'b', 'c', 'd'].map(async (id, index) => {
      await (await fixture.store.create(headerFor(id))).close()
      let known = 0
      // Each run ends at another point of the log's growth.
      for (let run = 0; run < 5; run++) known = await killedRun(id, known, 1 + run * 11 + index * 3)
      return known
    })
    for (const facts of await Promise.all(sessions)) expect(facts).toBeGreaterThan(100)
  })
})

/** Ends an owner after `lines` of what it says; what is left must hold all that it acknowledged. */
async function killedRun(id: string, known: number, lines: number): Promise<number> {
  const owner = await startOwner(join(fixture.root, 'sessions'), id, 'flood')
  owners.push(owner)
  while (owner.said.length < lines) await owner.next()
  await owner.kill()
  const last = owner.said.at(-1)?.replace('acknowledged ', '')
  const acknowledged = last === 'open' ? known : Number(last)
  const log = await fixture.store.open(id, { mode: 'write' })
  const facts = await readAll(log)
  expect(acknowledged).toBeGreaterThanOrEqual(known)
  expect(facts.length).toBeGreaterThanOrEqual(acknowledged)
  expect(facts).toEqual(factsFrom(0, facts.length))
  expect((log.snapshot?.seq ?? 0) + log.tail.length).toBe(facts.length)
  await log.close()
  return facts.length
}
