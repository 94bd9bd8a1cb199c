import { definePlugin } from '@cordage/core/kernel'
import type { Effect } from '@cordage/core/policy'
import { preExecute } from '@cordage/core/tool'

/** Judges what a call will do rather than which tool it is, so that every tool is covered. */
export default definePlugin({
  name: 'policy-no-force-push',
  apply(ctx) {
    preExecute.use(ctx, ({ effects }) => {
      if (!effects.some(isForcePush)) return undefined
      return { answer: 'deny', reason: 'Nobody force-pushes here. Push to a branch of your own.' }
    })
  },
})

/** Catches habits, not adversaries: a script may still push. Confinement is for those. */
function isForcePush(effect: Effect): boolean {
  return effect.kind === 'process' && /\bgit push\b.*(--force\b|\s-f\b)/.test(effect.command ?? '')
}
