import { definePlugin, log, describeFailure, type Plugin } from '@cordage/core/kernel'
import { request, type RequestInput } from '@cordage/core/loop'
import { requestMismatch } from '@cordage/core/session'
import { z } from 'zod'
import { LoggedView } from './logged-view.ts'
import { rebuildFromLog } from './rebuild-from-log.ts'

const config = z.strictObject({
  maxInterval: z
    .number()
    .int()
    .min(1)
    .default(64)
    .describe(
      'Requests 1, 4, 16... of a session are rebuilt from its log on the disk, and from there on' +
        ' every one of this many. What is new of a request is compared each time.',
    ),
})

/**
 * Every request is compared with what the session's facts give, which costs as much as what is new
 * of it; now and then the log is read back and the whole body made again, while the model answers.
 * What differs is a fact, `request/mismatch`, and an error in the log of the process.
 */
const plugin: Plugin<z.infer<typeof config>> = definePlugin({
  name: 'policy-rebuild',
  inject: ['sessions', 'models'],
  config,
  apply(ctx, { maxInterval }) {
    const views = new WeakMap<object, LoggedView>()
    const viewOf = (session: RequestInput['agent']['session']) => {
      const known = views.get(session)
      if (known) return known
      const view = new LoggedView(session)
      views.set(session, view)
      return view
    }
    const check = async (input: RequestInput) => {
      const view = viewOf(input.agent.session)
      const differs = view.compare(input.request)
      const whole = isDue(view.requests, maxInterval)
      const reason = differs ?? (whole ? await rebuildFromLog(ctx, input) : undefined)
      if (reason !== undefined) await report(input, reason)
    }
    const report = async (
      { agent: { session }, turn, step, attempt }: RequestInput,
      reason: string,
    ) => {
      const fields = { session: session.id, turn, step, attempt, reason }
      log(ctx, 'error', 'a request cannot be rebuilt from the log', fields)
      await session.append([requestMismatch({ turn, step, attempt, reason })])
    }
    request.use(ctx, async (input, next) => {
      const checked = check(input).catch((error: unknown) => {
        // Whatever keeps a check from being made is no reason to keep the model from answering.
        log(ctx, 'warn', 'a request was not checked', { error: describeFailure(error) })
      })
      try {
        return await next()
      } finally {
        await checked
      }
    })
  },
})

export default plugin

function isDue(count: number, maxInterval: number): boolean {
  return count < maxInterval ? Number.isInteger(Math.log2(count) / 2) : count % maxInterval === 0
}
