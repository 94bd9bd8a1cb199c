import type { Clock } from './clock.ts'
import type { Refreshed, SessionLog } from './store.ts'

const EVERY_MS = 250

/** Asks a view what its owner has added, for as long as somebody wants to know. */
export class Follower {
  readonly #log: SessionLog
  readonly #clock: Clock
  readonly #tell: (news: Refreshed) => void
  readonly #wanted: () => boolean
  #waiting: (() => void) | undefined
  #asking = false
  #stopped = false

  constructor(
    log: SessionLog,
    clock: Clock,
    told: { tell: (news: Refreshed) => void; wanted: () => boolean },
  ) {
    this.#log = log
    this.#clock = clock
    this.#tell = told.tell
    this.#wanted = told.wanted
  }

  /** Asks now, and then every quarter of a second. */
  start(): void {
    if (this.#stopped || this.#asking || this.#waiting) return
    void this.#ask()
  }

  stop(): void {
    this.#stopped = true
    this.#waiting?.()
  }

  async #ask(): Promise<void> {
    this.#waiting = undefined
    if (this.#stopped || !this.#wanted()) return
    this.#asking = true
    try {
      const news = await this.#log.refresh()
      if (!this.#stopped) this.#tell(news)
    } catch {
      // A log that cannot be read at this moment may be in the next; opening it says what is wrong.
    }
    this.#asking = false
    if (this.#stopped) return
    this.#waiting = this.#clock.after(EVERY_MS, () => void this.#ask())
  }
}
