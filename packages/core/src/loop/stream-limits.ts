import { modelError } from '../model/index.ts'
import type { TurnRun } from './run.ts'

/** How exactly silence is measured: at most a quarter longer than the limit. */
const LOOKS = 4

/** When a stream has to end; `signal` aborts with the reason. */
export interface StreamLimits {
  readonly signal: AbortSignal
  /** Says that something came. */
  heard(): void
  stop(): void
}

/** Follows the signal of the turn and watches for silence and for a stream without an end. */
export function limitStream(
  { signal, config, clock }: Pick<TurnRun, 'signal' | 'config' | 'clock'>,
  model: string,
): StreamLimits {
  const { streamIdleTimeoutMs, streamTotalTimeoutMs } = config
  const abort = new AbortController()
  const follow = () => abort.abort(signal.reason)
  const expire = (what: string, ms: number) => {
    abort.abort(modelError('TIMEOUT', { model, reason: `${what} within ${ms} ms` }))
  }
  let silent = 0
  let stopLooking: (() => void) | undefined
  // Counted in looks, not read off a clock: a machine that slept has heard nothing meanwhile.
  const look = () => {
    silent += 1
    if (silent > LOOKS) expire('nothing came', streamIdleTimeoutMs)
    else stopLooking = clock.after(streamIdleTimeoutMs / LOOKS, look)
  }
  const end = () => expire('no end came', streamTotalTimeoutMs)
  const stopTotal = clock.after(streamTotalTimeoutMs, end)
  look()
  if (signal.aborted) follow()
  else signal.addEventListener('abort', follow, { once: true })
  return {
    signal: abort.signal,
    heard: () => {
      silent = 0
    },
    stop: () => {
      stopLooking?.()
      stopTotal()
      signal.removeEventListener('abort', follow)
    },
  }
}
