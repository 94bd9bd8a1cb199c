/** How work under a signal ended: by itself, or left behind after the grace period. */
export type Settled<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'abandoned' }

/**
 * Starts `work` and waits for it, at most `graceMs` longer than until `signal` aborts. What it
 * does after that is dropped. Never rejects, even where `work` throws at once.
 */
export function settle<T>(
  work: () => Promise<T> | T,
  { signal, graceMs }: { signal: AbortSignal; graceMs: number },
): Promise<Settled<T>> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined
    const startGrace = () => {
      timer = setTimeout(() => end({ kind: 'abandoned' }), graceMs)
    }
    const end = (settled: Settled<T>) => {
      clearTimeout(timer)
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
