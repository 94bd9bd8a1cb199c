import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { definePlugin, own } from '@cordage/core/kernel'
import { simulatedClock, simulatedDisk } from '../../../kit/testkit/src/simulation/index.ts'
import { createJsonlStore } from '../../../stores/jsonl/src/index.ts'
import { plan } from './interleaving/plan.ts'
import { play } from './interleaving/play.ts'
import { openWorld, type World } from './interleaving/world.ts'

const clock = simulatedClock()
const { io } = simulatedDisk({ folders: ['/sessions'] })
const jsonl = definePlugin({
  name: 'store',
  provides: ['store'],
  apply(ctx) {
    const options = { segmentMaxBytes: 16_384, compression: 'none' } as const
    const store = createJsonlStore({ directory: '/sessions', io, ...options })
    own(ctx, 'store', store, () => store.close())
  },
})

let world: World
beforeAll(async () => {
  world = await openWorld(clock, { plugin: jsonl, instant: true })
})
afterAll(() => world.close())

it('whatever comes in whatever order, the log on a disk holds together', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), plan, async (scheduler, drawn) => {
      expect(await play(world, clock, scheduler, drawn)).toEqual([])
    }),
  )
})
