import { afterAll, beforeAll, describe, it } from 'vitest'
import { exhaustive, runAll, runs, seed, someOf } from './fixture/cases.ts'
import { runInterleaved, runTakeOver } from './fixture/interleave.ts'
import { openMachine, type Machine } from './fixture/machine.ts'
import { hows } from './fixture/world.ts'

let machine: Machine
beforeAll(async () => (machine = await openMachine()))
afterAll(() => machine[Symbol.asyncDispose]())

describe('several at once', { timeout: 600_000 }, () => {
  it('keep two sessions apart, in whatever order their calls come', async () => {
    const cases = Array.from({ length: Math.ceil(runs / 20) }, (_, index) => {
      return { seed: seed + index, how: hows[index % 2] ?? 'kill' }
    })
    await runAll(
      cases,
      (one) => runInterleaved(machine, one),
      () => machine.renew(),
    )
  })

  it('leave a session to the one who takes it over, at whatever call that is', async () => {
    const all = Array.from({ length: 120 }, (_, index) => ({ seed, call: index + 1 }))
    const cases = exhaustive ? all : someOf(all, Math.ceil(runs / 20))
    await runAll(
      cases,
      (one) => runTakeOver(machine, one),
      () => machine.renew(),
    )
  })
})
