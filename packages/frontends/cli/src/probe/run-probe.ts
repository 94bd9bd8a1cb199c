import { describe, toExitCode } from '@cordage/core/error'
import type { Usage } from '@cordage/core/message'
import { modelError, type ModelProvider } from '@cordage/core/model'
import { startProbing, type Probing } from './exchange.ts'
import { layerOf, type Layer } from './layer.ts'
import { hasNoList, probes, type Found, type ProbeName } from './probes.ts'

export interface ProbeResult {
  readonly probe: ProbeName
  readonly state: Found['state'] | 'failed'
  readonly detail: string
  readonly ms: number
  readonly usage: Usage
  /** Of a failure: where, its code, and what a process ends with that reports it. */
  readonly layer?: Layer
  readonly code?: string
  readonly exit?: number
}

export interface ProbeOptions {
  readonly route: ModelProvider
  /** Empty where only the route is to be listed. */
  readonly model: string
  readonly timeoutMs: number
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Runs one probe to its result, at the latest when its time is over. Never rejects. */
export async function runProbe(probe: ProbeName, options: ProbeOptions): Promise<ProbeResult> {
  const { route, model, timeoutMs, env } = options
  const signal = AbortSignal.timeout(timeoutMs)
  const probing = startProbing(route, model, signal)
  const startedAt = performance.now()
  const told = (found: Omit<ProbeResult, 'probe' | 'ms' | 'usage'>): ProbeResult => {
    return { probe, ms: Math.round(performance.now() - startedAt), usage: probing.usage, ...found }
  }
  try {
    const work = Promise.resolve().then(() => probes[probe](probing, route.info(model)))
    return told(await bounded(work, signal))
  } catch (thrown) {
    const error = signal.aborted ? late(probing, timeoutMs) : thrown
    const { code, message } = describe(error)
    if (probe === 'list' && hasNoList(code)) {
      return told({
        state: 'partial',
        detail: `the server answers but lists no models: ${message}`,
      })
    }
    const layer = signal.aborted ? (probing.heard ? 'answer' : 'http') : layerOf(error, env)
    return told({ state: 'failed', detail: message, layer, code, exit: toExitCode(error) })
  }
}

/** An adapter that does not mind its signal is left behind. */
export function bounded<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    task.then(resolve, reject)
  })
}

function late({ route, model, heard }: Probing, timeoutMs: number): Error {
  const within = `within ${timeoutMs / 1000} s`
  const reason = heard ? `not to its end ${within}` : `nothing ${within}`
  return modelError('TIMEOUT', { model: `${route.id}/${model}`, reason })
}
