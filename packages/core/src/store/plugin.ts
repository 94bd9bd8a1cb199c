import { z } from 'zod'
import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { systemClock } from './clock.ts'
import { WRITE_TIMEOUT_MS } from './live-session.ts'
import { OpenSessions } from './open-sessions.ts'

const config = z.strictObject({
  writeTimeoutMs: z
    .number()
    .int()
    .min(1)
    .default(WRITE_TIMEOUT_MS)
    .describe('A disk that has not written something by then has failed with STORE_WRITE_TIMEOUT.'),
})

const plugin: Plugin<z.output<typeof config>> = definePlugin({
  name: '@cordage/core/store',
  provides: ['sessions'],
  inject: ['store'],
  config,
  apply(ctx, { writeTimeoutMs }) {
    const sessions = new OpenSessions(ctx, ctx.store, systemClock, writeTimeoutMs)
    own(ctx, 'sessions', sessions, () => sessions.close())
  },
})

export default plugin
