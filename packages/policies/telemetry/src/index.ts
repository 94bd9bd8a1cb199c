import '@cordage/core/credential'
import type { Context as SpanContext } from '@opentelemetry/api'
import type { Agent } from '@cordage/core/agent'
import { definePlugin, log, type Plugin, type PluginContext } from '@cordage/core/kernel'
import { z } from 'zod'
import { createInstruments } from './instruments.ts'
import { openPipeline, type Pipeline } from './pipeline.ts'
import { SessionTrace } from './session-trace.ts'

const config = z.strictObject({
  endpoint: z
    .url({ protocol: /^https?$/ })
    .refine((url) => new URL(url).username === '' && new URL(url).password === '', {
      message: 'keep what signs in in a variable that headersEnv names',
    })
    .describe('Where an OTLP receiver listens over HTTP; /v1/traces and /v1/metrics are appended.'),
  headersEnv: z
    .string()
    .min(1)
    .optional()
    .describe('The name of a credential that holds headers as name=value,name=value.'),
  serviceName: z.string().min(1).default('cordage').describe('The service.name of what is sent.'),
  intervalMs: z.number().int().min(100).default(10_000).describe('How often it is sent.'),
  flushMs: z
    .number()
    .int()
    .min(1)
    .max(5_000)
    .default(2_000)
    .describe('How long the end of a process waits for the rest to be sent, at most.'),
})

type TelemetryConfig = z.infer<typeof config>

/** Tells an OTLP receiver of turns, steps, attempts and tool calls: how many, how long. */
const plugin: Plugin<TelemetryConfig> = definePlugin({
  name: 'policy-telemetry',
  inject: ['agents', 'credentials', 'host'],
  config,
  apply(ctx, settings) {
    const { headersEnv } = settings
    const pipeline = openPipeline({
      ...settings,
      headers: () => (headersEnv === undefined ? '' : ctx.credentials.reveal(headersEnv)),
      version: ctx.host.version,
      env: ctx.host.env,
      warn: (reason) => {
        const { endpoint } = settings
        log(ctx, 'warn', 'traces and metrics do not get to the receiver', { endpoint, reason })
      },
    })
    watchAgents(ctx, pipeline)
  },
})

export default plugin

function watchAgents(ctx: PluginContext<'agents'>, pipeline: Pipeline): void {
  const traces = new Set<SessionTrace>()
  // One after the other, newest first: spans end before the rest is sent.
  ctx.effect(function* () {
    yield () => pipeline.close()
    yield () => traces.forEach((trace) => trace.close(Date.now()))
  })
  const parents = new Map<string, SpanContext>()
  const { tracer, meter } = pipeline
  const shared = { tracer, instruments: createInstruments(meter), parents }
  const follow = ({ session, preset }: Agent) => {
    const { id, requestHeader: header } = session
    const trace = new SessionTrace({ ...shared, session: id, agent: preset, header })
    traces.add(trace)
    const stop = session.watch(
      ctx,
      (update) => {
        if (update.kind === 'fact') trace.add(update.fact)
      },
      () => {
        trace.close(Date.now())
        traces.delete(trace)
        stop()
      },
    )
  }
  ctx.agents.list().forEach(follow)
  ctx.agents.onSpawn(ctx, follow)
}
