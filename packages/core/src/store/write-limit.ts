import type { Clock } from './clock.ts'

/** How long a disk is waited for: one that is late is not asked for more until it has answered. */
export class WriteLimit {
  readonly #clock: Clock
  readonly #expired: () => Error
  readonly #waiting = new Set<(ms: number) => void>()
  #maxMs: number
  #late = 0

  constructor(clock: Clock, maxMs: number, expired: () => Error) {
    this.#clock = clock
    this.#maxMs = maxMs
    this.#expired = expired
  }

  /** What `work` comes to, if that is in time; where it is not, it goes on and nobody hears of it. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#late > 0) throw this.#expired()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const stops: (() => void)[] = []
    let isLate = false
    const giveUp = () => {
      if (!isLate) this.#late += 1
      isLate = true
      reject(this.#expired())
    }
    const limit = (ms: number) => void stops.push(this.#clock.after(ms, giveUp))
    const end = () => {
      for (const stop of stops) stop()
      this.#waiting.delete(limit)
      if (isLate) this.#late -= 1
    }
    limit(this.#maxMs)
    this.#waiting.add(limit)
    work().finally(end).then(resolve, reject)
    return promise
  }

  /** Nothing waits longer than `maxMs` from now on, until the returned function is called. */
  hurry(maxMs: number): () => void {
    const before = this.#maxMs
    this.#maxMs = Math.min(before, maxMs)
    for (const limit of this.#waiting) limit(maxMs)
    return () => void (this.#maxMs = before)
  }
}
