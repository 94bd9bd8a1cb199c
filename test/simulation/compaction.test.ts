import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Fault } from '../../packages/kit/testkit/src/simulation/index.ts'
import { exhaustive, runAll, runs, seed, someOf } from './fixture/cases.ts'
import {
  callsOfCompactions,
  compacting,
  runCompactingCase,
  type CompactingCase,
} from './fixture/compacting.ts'
import { openMachine, type Machine } from './fixture/machine.ts'
import { hows, type How } from './fixture/world.ts'

let machine: Machine
let calls: readonly number[]
beforeAll(async () => {
  machine = await openMachine(compacting)
  calls = await callsOfCompactions(machine)
})
afterAll(() => machine[Symbol.asyncDispose]())

const stops: readonly Fault[] = [{ crash: 'before' }, { crash: 'within' }, { crash: 'after' }]
const faults: readonly Fault[] = [
  { fail: 'ENOSPC' },
  { fail: 'EIO' },
  { fail: 'ENOSPC', when: 'within' },
  { fail: 'EIO', when: 'after' },
]

/** Every call of two compactions and of the turn between them. */
function everyCase(all: readonly Fault[], ends: readonly How[]): CompactingCase[] {
  return calls.flatMap((call) =>
    all.flatMap((fault) => ends.map((how) => ({ seed: seed + call, how, call, fault }))),
  )
}

async function run(cases: readonly CompactingCase[]): Promise<void> {
  const drawn = exhaustive ? cases : someOf(cases, Math.ceil(runs * 0.1))
  const results = await runAll(drawn, (one) => runCompactingCase(machine, one), machine.renew)
  const counts = Object.entries(Object.groupBy(results, (result) => result))
  console.log(counts.map(([result, those = []]) => `${result}: ${those.length}`).join(', '))
}

describe('a compaction', { timeout: 600_000 }, () => {
  it('that a process does not live to end is there whole or not at all, and bars nothing', async () => {
    await run(everyCase(stops, hows))
  })

  it('whose write fails is there whole or not at all, and can be asked for again', async () => {
    await run(everyCase(faults, ['power']))
  })
})
