import { definePlugin, own } from '../kernel/index.ts'
import { systemClock } from './clock.ts'
import { OpenSessions } from './open-sessions.ts'

export default definePlugin({
  name: '@cordage/core/store',
  provides: ['sessions'],
  inject: ['store'],
  apply(ctx) {
    const sessions = new OpenSessions(ctx, ctx.store, systemClock)
    own(ctx, 'sessions', sessions, () => sessions.close())
  },
})
