import { findSpec } from '@cordage/core/error'
import { definePlugin, type Plugin } from '@cordage/core/kernel'
import { requestError, type RequestErrorInput, type RequestErrorResult } from '@cordage/core/loop'
import { reasoningDropped } from '@cordage/core/session'
import { z } from 'zod'

const config = z.strictObject({
  mode: z
    .enum(['normal', 'always'])
    .default('normal')
    .describe(
      '`always` retries any code until success, cancellation or unload: it may spend without end.',
    ),
  maxRetries: z
    .number()
    .int()
    .min(0)
    .default(5)
    .describe('Extra tries after the first one, in mode `normal`.'),
  codes: z
    .array(z.string())
    .default(['EMPTY_RESPONSE', 'RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT', 'STREAM_CLOSED'])
    .describe('Which failures are tried again, in mode `normal`.'),
  initialDelayMs: z
    .number()
    .int()
    .min(0)
    .default(500)
    .describe(
      'Doubled each time, with a tenth of jitter; a wait that the server asks for is kept.',
    ),
  maxDelayMs: z.number().int().min(0).default(10_000).describe('The longest wait of its own.'),
})

type RetryConfig = z.infer<typeof config>

const plugin: Plugin<RetryConfig> = definePlugin({
  name: 'policy-retry',
  config,
  apply(ctx, options) {
    requestError.use(ctx, async (failed, next) => {
      const verdict = await next()
      if (verdict.kind === 'retry') return verdict
      return (await dropReasoning(failed)) ? { kind: 'retry', delayMs: 0 } : decide(failed, options)
    })
  },
})

export default plugin

/** A server that refuses what it once reasoned is asked again without it: the session must go on. */
async function dropReasoning(failed: RequestErrorInput): Promise<boolean> {
  const { agent, turn, step, attempt, model, error } = failed
  if (error.details['rejected'] !== 'reasoning') return false
  const { provider } = model
  const sent = agent.session.surface.some(({ message: { source, content } }) => {
    const own =
      source.kind === 'model' && source.provider === provider && source.model === model.model
    return own && content.some((part) => part.type === 'reasoning')
  })
  if (!sent) return false
  const place = { turn, step, attempt, provider, model: model.model }
  await agent.session.append([reasoningDropped(place)])
  return true
}

function decide(failed: RequestErrorInput, options: RetryConfig): RequestErrorResult {
  const { error, tries, agent } = failed
  const { mode, codes, maxRetries } = options
  const wanted = mode === 'always' || (isWorth(error, codes) && tries <= maxRetries)
  if (!wanted) return { kind: 'fail' }
  const delayMs = delayOf(failed, options)
  const { deadline = Infinity } = agent.account.limits
  // A wait that the turn has no time for would only hide what went wrong.
  return Date.now() + delayMs < deadline ? { kind: 'retry', delayMs } : { kind: 'fail' }
}

/** Of a code that may pass not those that say of themselves that they do not: a certificate. */
function isWorth(
  { code, retryable }: RequestErrorInput['error'],
  codes: readonly string[],
): boolean {
  return codes.includes(code) && (retryable || findSpec(code)?.retryable !== true)
}

/** What the server asked for, however long; else a doubled delay with a tenth of jitter. */
function delayOf({ error, tries }: RequestErrorInput, options: RetryConfig): number {
  const asked = error.details['retryAfterMs']
  if (typeof asked === 'number' && Number.isFinite(asked) && asked >= 0) return asked
  const doubled = options.initialDelayMs * 2 ** Math.min(tries - 1, 30)
  const jitter = 0.9 + Math.random() * 0.2
  return Math.round(Math.min(doubled, options.maxDelayMs) * jitter)
}
