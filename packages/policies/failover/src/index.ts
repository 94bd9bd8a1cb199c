import { definePlugin, log, type Plugin, type PluginContext } from '@cordage/core/kernel'
import { requestError, type RequestErrorInput, type RequestErrorResult } from '@cordage/core/loop'
import { z } from 'zod'

const name = z.string().regex(/^[^\s/]+\/\S+$/, '<provider>/<model id>')

const chain = z
  .array(name)
  .min(1)
  .refine((names) => new Set(names).size === names.length, { message: 'each model once' })

const config = z.strictObject({
  roles: z
    .strictObject({
      main: chain.optional(),
      summary: chain.optional(),
      title: chain.optional(),
    })
    .prefault({})
    .describe('Models of each role, the first one first; the others take its place.'),
  maxWaitMs: z
    .number()
    .int()
    .min(0)
    .default(60_000)
    .describe('A retry that has to wait for longer goes to the next model instead.'),
  codes: z
    .array(z.string())
    .default([
      'AUTH',
      'CREDENTIAL_MISSING',
      'MALFORMED_RESPONSE',
      'QUOTA',
      'RATE_LIMIT',
      'ROUTE_OPEN',
      'SERVER',
      'STREAM_CLOSED',
      'TIMEOUT',
      'TRANSPORT',
      'UNKNOWN_MODEL',
    ])
    .describe('Which failures another route may not have; any other ends the turn.'),
})

type FailoverConfig = z.infer<typeof config>

/** Models by role, and what takes the place of one that fails, once nobody tries it again. */
const plugin: Plugin<FailoverConfig> = definePlugin({
  name: 'policy-failover',
  inject: ['models'],
  config,
  apply(ctx, options) {
    for (const [role, names] of Object.entries(options.roles)) {
      if (names) ctx.models.assign(ctx, role, names)
    }
    requestError.use(
      ctx,
      async (failed, next) => {
        const verdict = await next()
        if (!isOver(verdict, failed, options)) return verdict
        const model = nextModel(ctx, failed, options)
        return model === undefined ? verdict : { kind: 'retry', delayMs: 0, model }
      },
      // Around those that try the same model again.
      { order: -1_000 },
    )
  },
})

export default plugin

/** Whether the model that failed is not to be tried again, or only after too long a wait. */
function isOver(
  verdict: RequestErrorResult,
  { error }: RequestErrorInput,
  { codes, maxWaitMs }: FailoverConfig,
): boolean {
  if (verdict.kind === 'fail') return codes.includes(error.code)
  return verdict.model === undefined && verdict.delayMs > maxWaitMs
}

function nextModel(
  ctx: PluginContext<'models'>,
  { model: { provider, model }, error }: RequestErrorInput,
  { roles }: FailoverConfig,
): string | undefined {
  const failed = `${provider}/${model}`
  const names = Object.values(roles).find((list) => list?.includes(failed)) ?? []
  const found = names.slice(names.indexOf(failed) + 1).find((other) => isUsable(ctx, other))
  if (found !== undefined) {
    log(ctx, 'warn', `${found} takes the place of ${failed}`, { code: error.code })
  }
  return found
}

function isUsable(ctx: PluginContext<'models'>, model: string): boolean {
  try {
    const { route } = ctx.models.resolve(model)
    return route.available() || route.scripted === true
  } catch (error) {
    log(ctx, 'warn', `${model} cannot take the place of another model`, { error: String(error) })
    return false
  }
}
