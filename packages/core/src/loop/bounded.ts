import { loopError } from './errors.ts'

/**
 * Waits for `work`. Once `signal` aborts, `work` has `graceMs` more to end by itself; after that
 * it is left behind, its result and its failure dropped, and this rejects.
 */
export function bounded<T>(
  work: Promise<T>,
  what: string,
  options: { signal: AbortSignal; graceMs: number },
): Promise<T> {
  const { signal, graceMs } = options
  return new Promise<T>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const startGrace = () => {
      const leave = () => reject(loopError('NOTHING_SETTLED', { what, graceMs }))
      timer = setTimeout(leave, graceMs)
    }
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', startGrace)
    }
    if (signal.aborted) startGrace()
    else signal.addEventListener('abort', startGrace, { once: true })
    work.then(resolve, reject).finally(settle)
  })
}
