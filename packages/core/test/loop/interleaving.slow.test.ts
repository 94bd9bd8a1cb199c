import * as fc from 'fast-check'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { simulatedClock } from '../../../kit/testkit/src/simulation/clock.ts'
import jsonl from '../../../stores/jsonl/src/index.ts'
import { plan } from './interleaving/plan.ts'
import { play } from './interleaving/play.ts'
import { openWorld, type World } from './interleaving/world.ts'

const clock = simulatedClock()
let directory: string
let world: World
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cordage-interleaving-'))
  world = await openWorld(clock, { plugin: jsonl, config: { directory }, instant: false })
})
afterAll(async () => {
  await world.close()
  await rm(directory, { recursive: true })
})

it('whatever comes in whatever order, the log on a disk holds together', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), plan, async (scheduler, drawn) => {
      expect(await play(world, clock, scheduler, drawn)).toEqual([])
    }),
  )
})
