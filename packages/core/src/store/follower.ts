import { isHarnessError } from '../error/index.ts'
import type { Clock } from './clock.ts'
import type { Refreshed, SessionLog } from './store.ts'

const EVERY_MS = 250
/** Asked so often in a row, a log that was only being written anew has its place again. */
const GONE_ASKS = 2
/** Five seconds in which it cannot be read are more than a moment. */
const FAILED_ASKS = 20

interface Told {
  readonly tell: (news: Refreshed) => void
  /** It is gone, or cannot be read any more; nobody is asked again. */
  readonly ended: (reason: unknown) => void
  readonly wanted: () => boolean
}

/** Asks a view what its owner has added, for as long as somebody wants to know. */
export class Follower {
  readonly #log: SessionLog
  readonly #clock: Clock
  readonly #told: Told
  #failures = 0
  #waiting: (() => void) | undefined
  #asking = false
  #stopped = false

  constructor(log: SessionLog, clock: Clock, told: Told) {
    this.#log = log
    this.#clock = clock
    this.#told = told
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
    if (this.#stopped || !this.#told.wanted()) return
    this.#asking = true
    try {
      const news = await this.#log.refresh()
      this.#failures = 0
      if (!this.#stopped) this.#told.tell(news)
    } catch (error) {
      this.#fail(error)
    }
    this.#asking = false
    if (this.#stopped) return
    this.#waiting = this.#clock.after(EVERY_MS, () => void this.#ask())
  }

  /** A log that cannot be read at this moment may be in the next. */
  #fail(error: unknown): void {
    this.#failures += 1
    const most = isHarnessError(error, 'SESSION_NOT_FOUND') ? GONE_ASKS : FAILED_ASKS
    if (this.#stopped || this.#failures < most) return
    this.stop()
    this.#told.ended(error)
  }
}
