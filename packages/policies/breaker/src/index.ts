import { isHarnessError } from '@cordage/core/error'
import { definePlugin, log, type Plugin, type PluginContext } from '@cordage/core/kernel'
import { request } from '@cordage/core/loop'
import { systemClock, type Clock } from '@cordage/core/store'
import { z } from 'zod'
import { Breaker, type BreakerLimits, type Pass } from './breaker.ts'
import { breakerError } from './errors.ts'
import { stateText } from './state-text.ts'

const config = z.strictObject({
  maxFailures: z
    .number()
    .int()
    .min(1)
    .default(5)
    .describe('So many failed requests in a row open the breaker of a route.'),
  coolDownMs: z
    .number()
    .int()
    .min(0)
    .default(60_000)
    .describe('How long nothing is sent then; longer where the server asks for it.'),
  codes: z
    .array(z.string())
    .default([
      'AUTH',
      'MALFORMED_RESPONSE',
      'QUOTA',
      'RATE_LIMIT',
      'SERVER',
      'STREAM_CLOSED',
      'TIMEOUT',
      'TRANSPORT',
    ])
    .describe('Which failures are the fault of the route; any other shows that it works.'),
})

type BreakerConfig = z.infer<typeof config>

/** A breaker for each route, on a clock that is given. */
export function createBreakerPlugin(clock: Clock): Plugin<BreakerConfig> {
  return definePlugin({
    name: 'policy-breaker',
    inject: ['commands'],
    config,
    apply(ctx, { codes, ...limits }) {
      const breakers = new Map<string, Breaker>()
      guardRequests(ctx, { breakers, limits, codes, clock })
      ctx.commands.register(ctx, {
        name: 'breakers',
        description: 'which routes are left alone because they kept failing',
        run: () => {
          const lines = [...breakers].map(([route, { state }]) => {
            return `${route}: ${stateText(state, clock.now())}`
          })
          return { text: lines.join('\n') || 'No request has been made.' }
        },
      })
    },
  })
}

export default createBreakerPlugin(systemClock)

interface Guard {
  readonly breakers: Map<string, Breaker>
  readonly limits: BreakerLimits
  readonly codes: readonly string[]
  readonly clock: Clock
}

/** As far in as can be: what counts is what the route said, not another hook. */
function guardRequests(ctx: PluginContext<'commands'>, guard: Guard): void {
  const { breakers, limits, codes, clock } = guard
  request.use(
    ctx,
    async (input, next) => {
      const route = input.request.provider
      const breaker = breakers.get(route) ?? new Breaker(limits)
      breakers.set(route, breaker)
      const pass = breaker.enter(clock.now())
      if (!pass) throw refusal(route, breaker, clock.now())
      const before = breaker.state.kind
      try {
        const answer = await next()
        pass.succeeded()
        return answer
      } catch (error) {
        if (input.signal.aborted) pass.left()
        else settle(pass, error, codes, clock.now())
        throw error
      } finally {
        const { state } = breaker
        const text = stateText(state, clock.now())
        if (state.kind !== before) log(ctx, 'warn', `the breaker of ${route} changed`, { text })
      }
    },
    { order: 1_000 },
  )
}

function settle(pass: Pass, error: unknown, codes: readonly string[], now: number): void {
  if (!isHarnessError(error)) return pass.left()
  if (!codes.includes(error.code)) return pass.succeeded()
  const { retryAfterMs } = error.details
  pass.failed(now, typeof retryAfterMs === 'number' ? retryAfterMs : 0)
}

function refusal(route: string, { state }: Breaker, now: number): Error {
  const until = state.kind === 'open' ? state.until : now
  const seconds = Math.ceil(Math.max(0, until - now) / 1_000)
  return breakerError('ROUTE_OPEN', { route, failures: state.failures, seconds })
}
