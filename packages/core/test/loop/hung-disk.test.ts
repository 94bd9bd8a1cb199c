import { textOf } from '@cordage/core/message'
import { LiveSession } from '@cordage/core/store'
import { afterEach, describe, expect, it } from 'vitest'
import { simulatedClock } from '../../../kit/testkit/src/simulation/clock.ts'
import { header, readAll } from '../store/faulty-log.ts'
import { HangingDisk } from '../store/hanging-disk.ts'
import { bench, say, type Bench, type Reply } from './boot.ts'
import { findViolations } from './interleaving/check-log.ts'

const GRACE_MS = 5_000
const WRITE_TIMEOUT_MS = 30_000
let made: Bench | undefined
afterEach(async () => {
  await made?.close()
  made = undefined
})

async function start(replies: Reply[]) {
  const [disk, clock] = [new HangingDisk(), simulatedClock()]
  made = await bench(replies, {
    clock,
    loop: { cancelGraceMs: GRACE_MS },
    session: async (root) =>
      LiveSession.open(disk.log(await root.store.create(header)), {
        clock,
        lookup: () => undefined,
        writeTimeoutMs: WRITE_TIMEOUT_MS,
      }),
  })
  await made.agent.send('first', { wake: false })
  return { made, disk, clock }
}

/** All that needs no time has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a turn on a disk that hangs', () => {
  it('ends with what is wrong, asks no model for what is not written, and can be gone on with', async () => {
    const { made, disk, clock } = await start([say('at last')])
    disk.hang()
    const turn = made.agent.wake()
    await settled()
    clock.advance(WRITE_TIMEOUT_MS)
    expect(await turn).toMatchObject({ reason: 'error', error: { code: 'STORE_WRITE_TIMEOUT' } })
    expect(made.agent.status).toEqual({ kind: 'idle' })
    expect(made.requests).toEqual([])
    await expect(made.agent.send('unsaved')).rejects.toMatchObject({ code: 'STORE_WRITE_TIMEOUT' })
    disk.goOn()
    await settled()
    expect(await made.agent.wake()).toMatchObject({ turn: 2, reason: 'completed' })
    const asked = made.requests.flatMap(({ messages }) => messages.map(({ message }) => message))
    expect(asked.map((message) => textOf(message))).toEqual(['first', 'unsaved'])
    const facts = await readAll(made.session.read(0))
    expect(findViolations(facts)).toEqual([])
  })

  it('is idle within one grace period of a cancellation, whatever was being written', async () => {
    const { made, disk, clock } = await start([
      async function* () {
        disk.hang()
        yield* say('never durable')
      },
    ])
    void made.agent.wake()
    await expect.poll(() => disk.isHung).toBe(true)
    await settled()
    expect(made.agent.status).toMatchObject({ kind: 'running' })
    const cancelled = made.agent.cancel('enough')
    clock.advance(GRACE_MS)
    await cancelled
    expect(made.agent.status).toEqual({ kind: 'idle' })
    disk.goOn()
    await settled()
    await made.session.append([])
    expect(made.session.turn).toMatchObject({ turn: 1, open: false })
  })
})
