/** Time as sessions see it; a simulation gives its own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Calls `run` once after `ms`, unless the result is called before. */
  after(ms: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    // What waits here is best effort and keeps no process alive.
    timer.unref()
    return () => clearTimeout(timer)
  },
}
