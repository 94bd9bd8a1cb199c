import type { Fact } from '../session/index.ts'
import type { Clock } from './clock.ts'
import type { SessionLog, Snapshot } from './store.ts'
import type { WriteLimit } from './write-limit.ts'

/** How long facts wait that are to be written with the next ones. */
const MAX_DELAY_MS = 20

export interface Batch {
  readonly facts: readonly Fact[]
  readonly sync: boolean
  /** Is written together with the batch after it, which it waits for at most 20 ms. */
  readonly later?: boolean
  /** Of what is before the batch. */
  readonly snapshot?: Snapshot
}

/**
 * Writes batches one after the other, in order. A batch that could not be written stays, and goes
 * first with whatever is asked for next. One whose write is late is not written a second time
 * unless that write has failed.
 */
export class WriteQueue {
  readonly #log: SessionLog
  readonly #clock: Clock
  readonly #limit: WriteLimit
  readonly #onWritten: (batch: Batch) => void
  readonly #pending: Batch[] = []
  /** The write of the first batch. */
  #writing: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #tail: Promise<void> = Promise.resolve()

  constructor(
    log: SessionLog,
    { clock, limit }: { clock: Clock; limit: WriteLimit },
    onWritten: (batch: Batch) => void,
  ) {
    this.#log = log
    this.#clock = clock
    this.#limit = limit
    this.#onWritten = onWritten
  }

  /** Facts that the log does not hold yet, in order. */
  get unwritten(): readonly Fact[] {
    return this.#pending.flatMap((batch) => batch.facts)
  }

  /**
   * Whether the next batch is to bring a snapshot. Only with nothing before it is the state of the
   * session also that of the log; until then the log goes on wanting one.
   */
  get wantsSnapshot(): boolean {
    return this.#pending.length === 0 && this.#log.wantsSnapshot
  }

  /** Resolves when the batch is written; one that is for later is only taken in. */
  add(batch: Batch): Promise<void> {
    const last = this.#pending.at(-1)
    const joins = last?.later && !(this.#writing && this.#pending.length === 1)
    if (joins) this.#pending[this.#pending.length - 1] = join(last, batch)
    else this.#pending.push(batch)
    if (!batch.later) return this.flush()
    this.#cancelTimer ??= this.#clock.after(MAX_DELAY_MS, () => {
      this.flush().catch(() => {
        // The next batch is refused for the same reason, and whoever adds it is told.
      })
    })
    return Promise.resolve()
  }

  /** Writes what is left, after whatever is being written. */
  flush(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const last = this.#pending.at(-1)?.facts.at(-1)
    if (!last) return this.#tail
    const done = this.#tail.then(() => this.#writeUpTo(last.seq))
    // The failure is the caller's; the queue goes on.
    this.#tail = done.catch(() => {})
    return done
  }

  async #writeUpTo(seq: number): Promise<void> {
    for (let first = this.#pending[0]; first; first = this.#pending[0]) {
      if ((first.facts[0]?.seq ?? seq) > seq) return
      await this.#limit.within(() => (this.#writing ??= this.#write(first)))
    }
  }

  async #write(batch: Batch): Promise<void> {
    const { facts, sync, snapshot } = batch
    try {
      await this.#log.append(facts, { sync, ...(snapshot ? { snapshot } : {}) })
      this.#pending.shift()
    } finally {
      this.#writing = undefined
    }
    this.#onWritten(batch)
  }
}

function join({ snapshot, facts }: Batch, next: Batch): Batch {
  return { ...next, facts: [...facts, ...next.facts], ...(snapshot ? { snapshot } : {}) }
}
