import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { simulatedClock } from '../../../kit/testkit/src/simulation/clock.ts'
import memory from '../../../stores/memory/src/index.ts'
import { plan } from './interleaving/plan.ts'
import { play } from './interleaving/play.ts'
import { openWorld, type World } from './interleaving/world.ts'

const clock = simulatedClock()
let world: World
beforeAll(async () => {
  world = await openWorld(clock, { plugin: memory, instant: true })
})
afterAll(() => world.close())

it('whatever comes in whatever order leaves an idle agent and a log that holds together', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), plan, async (scheduler, drawn) => {
      expect(await play(world, clock, scheduler, drawn)).toEqual([])
    }),
  )
})
