import { afterAll, beforeAll, describe, it } from 'vitest'
import { simulatedDisk, type Fault } from '../../packages/kit/testkit/src/simulation/index.ts'
import { exhaustive, runAll, runs, seed, someOf } from './fixture/cases.ts'
import { converse } from './fixture/conversation.ts'
import { runFault, type FaultCase } from './fixture/disk-fault.ts'
import { openMachine, type Machine } from './fixture/machine.ts'
import { ResultTable } from './fixture/table.ts'
import { folders, hows, nothingSeen, worldOn, type How } from './fixture/world.ts'

let machine: Machine
let calls = 0
beforeAll(async () => {
  machine = await openMachine()
  const disk = simulatedDisk({ folders })
  await converse(await machine.start(worldOn(disk, nothingSeen())), 'undisturbed')
  calls = disk.calls.length
})
afterAll(() => machine[Symbol.asyncDispose]())

const faults: readonly Fault[] = [
  { fail: 'ENOSPC' },
  { fail: 'EIO' },
  { fail: 'EROFS' },
  { fail: 'EDQUOT' },
  { fail: 'ENOSPC', when: 'within' },
  { fail: 'EIO', when: 'after' },
]

/** Every call fails once, in every way. */
function everyFault(): FaultCase[] {
  return Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) => {
    return faults.map((fault, index) => {
      return { seed: seed + call, call, fault, how: hows[(call + index) % 2] as How }
    })
  })
}

describe('a disk that fails once', { timeout: 600_000 }, () => {
  it('costs one clear error and no fact, whatever it was asked for', async () => {
    const all = everyFault()
    const cases = exhaustive ? all : someOf(all, Math.ceil(runs * 0.3))
    const table = new ResultTable('faults', faults.map(nameOf))
    const results = await runAll(
      cases,
      (one) => runFault(machine, one),
      () => machine.renew(),
    )
    for (const [index, { phase, result }] of results.entries()) {
      const fault = cases[index]?.fault
      if (fault) table.add(phase, nameOf(fault), result)
    }
    table.check()
  })
})

function nameOf(fault: Fault): string {
  if (!('fail' in fault)) return ''
  return fault.when ? `${fault.fail} ${fault.when}` : fault.fail
}
