import type { Clock } from '../store/index.ts'

/** How work under a signal ended: by itself, or left behind after the grace period. */
export type Settled<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'abandoned' }

/** When work has to end, and how long it may take to. */
export interface Grace {
  readonly signal: AbortSignal
  /** How much longer it is waited for once `signal` aborts. */
  readonly graceMs: number
  readonly clock: Clock
  /** When the grace period began, where that was before `signal` aborted or is known to others. */
  readonly endingSince?: () => number | undefined
}

/**
 * Starts `work` and waits for it, at most `graceMs` longer than until `signal` aborts. What it
 * does after that is dropped. Never rejects, even where `work` throws at once.
 */
export function settle<T>(work: () => Promise<T> | T, grace: Grace): Promise<Settled<T>> {
  const { signal, graceMs, clock, endingSince } = grace
  return new Promise((resolve) => {
    let stopTimer: (() => void) | undefined
    const startGrace = () => {
      const since = endingSince?.() ?? clock.now()
      const leftMs = Math.max(0, graceMs - (clock.now() - since))
      stopTimer = clock.after(leftMs, () => end({ kind: 'abandoned' }))
    }
    const end = (settled: Settled<T>) => {
      stopTimer?.()
      signal.removeEventListener('abort', startGrace)
      resolve(settled)
    }
    if (signal.aborted) startGrace()
    else signal.addEventListener('abort', startGrace, { once: true })
    void (async () => {
      try {
        end({ kind: 'value', value: await work() })
      } catch (error) {
        end({ kind: 'error', error })
      }
    })()
  })
}
