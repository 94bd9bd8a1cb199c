import { describe, it } from 'vitest'
import { exhaustive, runAll, runs, seed, someOf } from './fixture/cases.ts'
import { runInterleaved, runTakeOver } from './fixture/interleave.ts'
import { useMachine } from './fixture/use-machine.ts'
import { hows } from './fixture/world.ts'

const used = useMachine()

describe('several at once', { timeout: 600_000 }, () => {
  it('keep two sessions apart, in whatever order their calls come', async () => {
    const { machine } = used()
    const cases = Array.from({ length: Math.ceil(runs / 20) }, (_, index) => {
      return { seed: seed + index, how: hows[index % 2] ?? 'kill' }
    })
    await runAll(cases, (one) => runInterleaved(machine, one), machine.renew)
  })

  it('leave a session to the one who takes it over, at whatever call that is', async () => {
    const { machine } = used()
    const all = used().calls.map((call) => ({ seed, call }))
    const cases = exhaustive ? all : someOf(all, Math.ceil(runs / 20))
    await runAll(cases, (one) => runTakeOver(machine, one), machine.renew)
  })
})
