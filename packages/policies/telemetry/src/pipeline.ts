import { randomUUID } from 'node:crypto'
import type { Agent } from 'node:http'
import type { Meter, Tracer } from '@opentelemetry/api'
import { ExportResultCode, parseKeyPairsIntoRecord, type ExportResult } from '@opentelemetry/core'
import { OTLPExporterBase, type IOtlpExportDelegate } from '@opentelemetry/otlp-exporter-base'
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from '@opentelemetry/otlp-exporter-base/node-http'
import {
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { withTimeLimit } from '@cordage/core/kernel'
import { telemetryError } from './errors.ts'
import { failureText } from './failure-text.ts'

export interface PipelineOptions {
  /** As `OTEL_EXPORTER_OTLP_ENDPOINT` has it: `/v1/traces` and `/v1/metrics` are appended. */
  readonly endpoint: string
  /** `name=value,name=value`, revealed at each use; it may throw. */
  readonly headers: () => string
  readonly serviceName: string
  readonly version: string
  readonly intervalMs: number
  readonly flushMs: number
  /** Where `HTTPS_PROXY` and the like are looked for. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Told of the first failure only. */
  readonly warn: (reason: string) => void
}

export interface Pipeline {
  readonly tracer: Tracer
  readonly meter: Meter
  /** Sends what is left, for `flushMs` at most, and then cuts what is on its way. Never rejects. */
  close(): Promise<void>
}

const SCOPE = '@cordage/policy-telemetry'
const MAX_QUEUED_SPANS = 2_048
const MAX_BATCH = 512
/** All that the queue holds may be on its way at once. */
const MAX_EXPORTS = 8
const MAX_SERIES = 1_000
const MAX_SEND_MS = 5_000
const MAX_VALUE_CHARS = 256

/** Every option is given: what the environment says to OpenTelemetry's own exporters has no say. */
export function openPipeline(options: PipelineOptions): Pipeline {
  const { intervalMs, flushMs, version, serviceName } = options
  const sending = new Sending(options)
  const resource = resourceFromAttributes({
    'service.name': serviceName,
    'service.version': version,
    // Two processes may count at once, and their sums are not the same.
    'service.instance.id': randomUUID(),
  })
  const traces = new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_CHARS },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: sending.traces(),
        maxExportBatchSize: MAX_BATCH,
        maxQueueSize: MAX_QUEUED_SPANS,
        scheduledDelayMillis: intervalMs,
        exportTimeoutMillis: MAX_SEND_MS,
      }),
    ],
  })
  const reader = new PeriodicExportingMetricReader({
    exporter: sending.metrics(),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(intervalMs, MAX_SEND_MS),
    cardinalityLimits: { default: MAX_SERIES },
  })
  const metrics = new MeterProvider({ resource, readers: [reader] })
  return {
    tracer: traces.getTracer(SCOPE, version),
    meter: metrics.getMeter(SCOPE, version),
    async close() {
      // One batch that fails ends a shutdown: the others are waited for apart.
      const closed = Promise.allSettled([traces.shutdown(), metrics.shutdown()])
      const sent = closed.then(() => sending.rest())
      const late = () => telemetryError('TELEMETRY_UNSENT', { flushMs })
      await withTimeLimit(sent, flushMs, late).catch((error: unknown) => sending.failed(error))
      sending.stop()
    },
  }
}

/** The two exporters of a pipeline, and what they have in common: where, how, and what failed. */
class Sending {
  readonly #options: PipelineOptions
  readonly #stopped = new AbortController()
  readonly #agents = new Set<Agent>()
  readonly #exporters = new Set<{ forceFlush(): Promise<void> }>()
  #hasFailed = false

  constructor(options: PipelineOptions) {
    this.#options = options
  }

  traces() {
    const helper = TraceExporterMetricsHelper
    const http = this.#http('v1/traces')
    return this.#exporter(
      createOtlpHttpExportDelegate(http, ProtobufTraceSerializer, 'traces', helper, undefined),
    )
  }

  metrics() {
    const helper = MetricsExporterMetricsHelper
    const http = this.#http('v1/metrics')
    return this.#exporter(
      createOtlpHttpExportDelegate(http, ProtobufMetricsSerializer, 'metrics', helper, undefined),
    )
  }

  failed(error: unknown): void {
    if (this.#hasFailed || this.#stopped.signal.aborted) return
    this.#hasFailed = true
    this.#options.warn(failureText(error))
  }

  /** Resolves when nothing is on its way. */
  async rest(): Promise<void> {
    await Promise.allSettled([...this.#exporters].map((exporter) => exporter.forceFlush()))
  }

  stop(): void {
    this.#stopped.abort()
    for (const agent of this.#agents) agent.destroy()
  }

  #exporter<Items>(delegate: IOtlpExportDelegate<Items>): OTLPExporterBase<Items> {
    const failed = (error: unknown) => this.failed(error)
    const exporter = new (class extends OTLPExporterBase<Items> {
      override export(items: Items, done: (result: ExportResult) => void): void {
        super.export(items, (result) => {
          if (result.code !== ExportResultCode.SUCCESS) failed(result.error)
          done(result)
        })
      }
    })(delegate)
    this.#exporters.add(exporter)
    return exporter
  }

  #http(path: string) {
    const { endpoint, env, headers } = this.#options
    const { signal } = this.#stopped
    const open = httpAgentFactoryFromOptions({ keepAlive: true, proxyEnv: { ...env } })
    return {
      url: `${endpoint.replace(/\/+$/, '')}/${path}`,
      timeoutMillis: MAX_SEND_MS,
      concurrencyLimit: MAX_EXPORTS,
      compression: 'gzip' as const,
      userAgent: 'cordage',
      headers: async () => {
        // Asked for at each try: this ends the tries that are still to come.
        signal.throwIfAborted()
        return { ...parseKeyPairsIntoRecord(headers()), 'Content-Type': 'application/x-protobuf' }
      },
      agentFactory: async (protocol: string) => {
        const agent = await open(protocol)
        this.#agents.add(agent)
        return agent
      },
    }
  }
}
