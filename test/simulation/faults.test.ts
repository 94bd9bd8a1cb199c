import { describe, it } from 'vitest'
import type { Fault } from '../../packages/kit/testkit/src/simulation/index.ts'
import { exhaustive, runAll, runs, seed, someOf } from './fixture/cases.ts'
import { runFault, type FaultCase } from './fixture/disk-fault.ts'
import { ResultTable } from './fixture/table.ts'
import { useMachine } from './fixture/use-machine.ts'
import { hows, type How } from './fixture/world.ts'

const used = useMachine()
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
  return used().calls.flatMap((call) => {
    return faults.map((fault, index) => {
      return { seed: seed + call, call, fault, how: hows[(call + index) % 2] as How }
    })
  })
}

describe('a disk that fails once', { timeout: 600_000 }, () => {
  it('costs one clear error and no fact, whatever it was asked for', async () => {
    const { machine } = used()
    const all = everyFault()
    const cases = exhaustive ? all : someOf(all, Math.ceil(runs * 0.3))
    const table = new ResultTable('faults', faults.map(nameOf))
    const results = await runAll(cases, (one) => runFault(machine, one), machine.renew)
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
