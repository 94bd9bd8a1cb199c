import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headerFor } from '../../../kit/testkit/src/store-fixture.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bench, say, type Bench } from '../../../core/test/loop/boot.ts'
import storeJsonl from '../../../stores/jsonl/src/index.ts'
import retention from '../src/index.ts'

let directory: string
let made: Bench | undefined
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cordage-retention-'))
})
afterEach(async () => {
  await made?.close()
  made = undefined
  await rm(directory, { recursive: true, force: true })
})

async function start(config: Record<string, unknown>): Promise<Bench> {
  made = await bench([say('one'), say('two')], {
    store: { plugin: storeJsonl, config: { directory } },
    rows: [{ plugin: retention, config }],
  })
  return made
}

async function turn({ agent }: Bench): Promise<void> {
  await agent.send('go', { wake: false })
  expect(await agent.wake()).toMatchObject({ reason: 'completed' })
}

/** A session of 100 days ago. */
async function makeOld({ root }: Bench, id: string): Promise<void> {
  const time = new Date(Date.now() - 100 * 86_400_000)
  const log = await root.store.create(headerFor(id, { createdAt: time.getTime() }))
  await log.close()
  const folder = join(directory, id, 'log')
  for (const name of await readdir(folder)) await utimes(join(folder, name), time, time)
}

const collected = () => existsSync(join(directory, '.collected'))
const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('policy-retention', () => {
  it('removes old sessions after the first answer, never before, and not the one that runs', async () => {
    const running = await start({ maxAgeDays: 30 })
    await makeOld(running, 'old')
    await rest(1_500)
    expect(collected()).toBe(false)
    await turn(running)
    await expect.poll(() => existsSync(join(directory, 'old')), { timeout: 10_000 }).toBe(false)
    expect(existsSync(join(directory, running.session.id))).toBe(true)
  })

  it('does so once a day, and removes no session without a limit', async () => {
    const running = await start({})
    await makeOld(running, 'old')
    await mkdir(join(directory, '.trash-gone-1'))
    await turn(running)
    await expect
      .poll(() => existsSync(join(directory, '.trash-gone-1')), { timeout: 10_000 })
      .toBe(false)
    await running.close()
    const later = await start({ maxAgeDays: 30 })
    await turn(later)
    await rest(1_500)
    expect(existsSync(join(directory, 'old'))).toBe(true)
  })

  it('leaves when it is unloaded before its time has come', async () => {
    const running = await start({ maxAgeDays: 30 })
    await turn(running)
    await running.close()
    made = undefined
    await rest(1_500)
    expect(collected()).toBe(false)
  })
})
