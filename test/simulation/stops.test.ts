import { afterAll, beforeAll, describe, it } from 'vitest'
import {
  seededRandom,
  simulatedDisk,
  type When,
} from '../../packages/kit/testkit/src/simulation/index.ts'
import { exhaustive, runAll, runs, seed, someOf } from './fixture/cases.ts'
import { converse } from './fixture/conversation.ts'
import { openMachine, type Machine } from './fixture/machine.ts'
import { runCase, type Case } from './fixture/stop.ts'
import { ResultTable } from './fixture/table.ts'
import { folders, hows, nothingSeen, worldOn } from './fixture/world.ts'

let machine: Machine
/** How many calls an undisturbed process makes. */
let calls = 0
beforeAll(async () => {
  machine = await openMachine()
  const disk = simulatedDisk({ folders })
  await converse(await machine.start(worldOn(disk, nothingSeen())), 'undisturbed')
  calls = disk.calls.length
})
afterAll(() => machine[Symbol.asyncDispose]())

const whens: readonly When[] = ['before', 'within', 'after']
const share = (part: number) => Math.ceil(runs * part)
const run = (cases: readonly Case[]) => {
  return runAll(
    cases,
    (one) => runCase(machine, one),
    () => machine.renew(),
  )
}

/** Every call, before it, in the midst of it and after it, without and with the power. */
function everyStop(): Case[] {
  return Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) => {
    return hows.flatMap((how) =>
      whens.map((when) => ({ seed: seed + call, how, first: { call, when } })),
    )
  })
}

/** Some stops, at which the next process is stopped too while it opens and repairs. */
function drawnRepairs(count: number): Case[] {
  const random = seededRandom(seed)
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
  return Array.from({ length: count }, (_, index) => ({
    seed: seed + index,
    how: pick(hows),
    first: { call: 14 + Math.floor(random() * (calls - 13)), when: pick(whens) },
    // Opening and repairing makes about as many calls.
    repair: { call: 1 + (index % 34), when: pick(whens) },
  }))
}

describe('a process that is stopped', { timeout: 600_000 }, () => {
  it('leaves a session that goes on, wherever that was', async () => {
    const all = everyStop()
    const table = new ResultTable('stops', hows)
    const cases = exhaustive ? all : someOf(all, share(0.35))
    for (const [index, { phase, result }] of (await run(cases)).entries()) {
      table.add(phase, cases[index]?.how ?? '', result)
    }
    table.check()
  })

  it('may be stopped again while it repairs', async () => {
    const table = new ResultTable('repairs', hows)
    const cases = drawnRepairs(share(0.25))
    for (const [index, { repairing = '', result }] of (await run(cases)).entries()) {
      table.add(repairing, cases[index]?.how ?? '', result)
    }
    table.check()
  })

  it('leaves one with a compressed log too', async () => {
    await run(someOf(everyStop(), share(0.05)).map((one) => ({ ...one, compression: 'zstd' })))
  })

  it('leaves one to a harness that is booted for it', async () => {
    await run(someOf(everyStop(), share(0.01)).map((one) => ({ ...one, anew: true })))
  })
})
