import { describe, it } from 'vitest'
import type { When } from '../../packages/kit/testkit/src/simulation/index.ts'
import { exhaustive, runAll, runs, seed, someOf } from './fixture/cases.ts'
import { runCase, type Case } from './fixture/stop.ts'
import { ResultTable } from './fixture/table.ts'
import { useMachine } from './fixture/use-machine.ts'
import { hows } from './fixture/world.ts'

const used = useMachine()
const whens: readonly When[] = ['before', 'within', 'after']
const run = (cases: readonly Case[]) => {
  const { machine } = used()
  return runAll(cases, (one) => runCase(machine, one), machine.renew)
}

/** Every call, before it, in the midst of it and after it, without and with the power. */
function everyStop(): Case[] {
  return used().calls.flatMap((call) => {
    return hows.flatMap((how) =>
      whens.map((when) => ({ seed: seed + call, how, first: { call, when } })),
    )
  })
}

function drawnStops(part: number): Case[] {
  return someOf(everyStop(), Math.ceil(runs * part))
}

describe('a process that is stopped', { timeout: 600_000 }, () => {
  it('leaves a session that goes on, wherever that was', async () => {
    const table = new ResultTable('stops', hows)
    const cases = exhaustive ? everyStop() : drawnStops(0.35)
    for (const [index, { phase, result }] of (await run(cases)).entries()) {
      for (const word of result) table.add(phase, cases[index]?.how ?? '', word)
    }
    table.check()
  })

  it('leaves one with a compressed log too', async () => {
    await run(drawnStops(0.05).map((one) => ({ ...one, compression: 'zstd' })))
  })

  it('leaves one to a harness that is booted for it', async () => {
    await run(drawnStops(0.01).map((one) => ({ ...one, anew: true })))
  })
})
