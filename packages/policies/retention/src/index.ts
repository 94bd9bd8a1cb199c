import { definePlugin, describeFailure, log, type Plugin } from '@cordage/core/kernel'
import { request } from '@cordage/core/loop'
import type { CollectOptions } from '@cordage/core/store'
import { z } from 'zod'

const config = z.strictObject({
  maxAgeDays: z
    .number()
    .positive()
    .optional()
    .describe('Removes sessions that nothing was added to for longer; none unless given.'),
  maxTotalBytes: z
    .number()
    .int()
    .positive()
    .optional()
    .describe('Removes the oldest sessions until all take no more; none unless given.'),
  keepArchived: z.boolean().default(true).describe('Removes no session that was put away.'),
  asideDays: z
    .number()
    .min(0)
    .default(30)
    .describe('How long bytes stay that damage made it set aside.'),
})

type RetentionConfig = z.infer<typeof config>

const dayMs = 86_400_000
/** The answer to a request comes first, and a run that is over by then has nothing to wait for. */
const restMs = 1_000

/**
 * Once a day, in whatever process has its first answer then, sessions beyond the limits go, and
 * what no session needs. It never holds up a start, a request or an exit.
 */
const plugin: Plugin<RetentionConfig> = definePlugin({
  name: 'policy-retention',
  inject: ['store'],
  config,
  apply(ctx, { maxAgeDays, maxTotalBytes, ...rest }) {
    const { upkeep } = ctx.store
    if (!upkeep) return
    const limits: CollectOptions = {
      ...rest,
      ...(maxAgeDays === undefined ? {} : { maxAgeDays }),
      ...(maxTotalBytes === undefined ? {} : { maxTotalBytes }),
    }
    const unload = new AbortController()
    let timer: NodeJS.Timeout | undefined
    ctx.effect(() => () => {
      clearTimeout(timer)
      unload.abort()
    })
    const collect = async () => {
      try {
        const { signal } = unload
        const { sessions, bytes } = await upkeep.collect({ ...limits, everyMs: dayMs, signal })
        const ids = sessions.map(({ id }) => id)
        if (bytes > 0) log(ctx, 'info', 'old sessions and leftovers were removed', { ids, bytes })
      } catch (error) {
        log(ctx, 'warn', 'collecting garbage failed', { error: describeFailure(error) })
      }
    }
    request.use(ctx, async (_, next) => {
      const answer = await next()
      timer ??= setTimeout(() => void collect(), restMs).unref()
      return answer
    })
  },
})

export default plugin
