import { describe, it } from 'vitest'
import { seededRandom, type When } from '../../packages/kit/testkit/src/simulation/index.ts'
import { runAll, runs, seed } from './fixture/cases.ts'
import { runCase, type Case } from './fixture/stop.ts'
import { ResultTable } from './fixture/table.ts'
import { useMachine } from './fixture/use-machine.ts'
import { hows } from './fixture/world.ts'

const used = useMachine()
const whens: readonly When[] = ['before', 'within', 'after']

/** About as many calls as opening and repairing makes. */
const callsOfRepair = 40

/** A process is stopped anywhere, and the next one in one call after the other. */
function drawnRepairs(count: number): Case[] {
  const random = seededRandom(seed)
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
  return Array.from({ length: count }, (_, index) => ({
    seed: seed + index,
    how: pick(hows),
    first: { call: pick(used().calls), when: pick(whens) },
    repair: { call: 1 + (index % callsOfRepair), when: pick(whens) },
  }))
}

describe('a process that is stopped while it repairs', { timeout: 600_000 }, () => {
  it('leaves a session that the next one repairs', async () => {
    const { machine } = used()
    const table = new ResultTable('repairs', hows)
    const cases = drawnRepairs(Math.ceil(runs * 0.25))
    const results = await runAll(cases, (one) => runCase(machine, one), machine.renew)
    for (const [index, { repairing = '', result }] of results.entries()) {
      for (const word of result) table.add(repairing, cases[index]?.how ?? '', word)
    }
    table.check()
  })
})
