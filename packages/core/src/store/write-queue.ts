import type { Fact, SessionFold } from '../session/index.ts'
import type { SessionLog, Snapshot } from './store.ts'

export interface Batch {
  readonly facts: readonly Fact[]
  readonly sync: boolean
}

/**
 * Writes batches one after the other, in order. A batch that could not be written stays, and goes
 * first with whatever is asked for next.
 */
export class WriteQueue {
  readonly #log: SessionLog
  readonly #written: SessionFold
  readonly #onWritten: (batch: Batch) => void
  readonly #pending: Batch[] = []
  #tail: Promise<void> = Promise.resolve()

  /**
   * `written` is a fold of what the log holds. It trails the session's own: a snapshot must be of
   * what is before the batch that is written, and the session may already be batches ahead.
   */
  constructor(log: SessionLog, written: SessionFold, onWritten: (batch: Batch) => void) {
    this.#log = log
    this.#written = written
    this.#onWritten = onWritten
  }

  /** Facts that the log does not hold yet, in order. */
  get unwritten(): readonly Fact[] {
    return this.#pending.flatMap((batch) => batch.facts)
  }

  add(batch: Batch): Promise<void> {
    this.#pending.push(batch)
    return this.#enqueue(batch)
  }

  /** Writes what is left, after whatever is being written. */
  flush(): Promise<void> {
    const last = this.#pending.at(-1)
    return last ? this.#enqueue(last) : this.#tail
  }

  #enqueue(last: Batch): Promise<void> {
    const done = this.#tail.then(() => this.#writeUpTo(last))
    // The failure is the caller's; the queue goes on.
    this.#tail = done.catch(() => {})
    return done
  }

  async #writeUpTo(last: Batch): Promise<void> {
    while (this.#pending.includes(last)) {
      const [first] = this.#pending
      if (first) await this.#write(first)
      this.#pending.shift()
    }
  }

  async #write(batch: Batch): Promise<void> {
    const { facts, sync } = batch
    const snapshot = this.#log.wantsSnapshot ? { snapshot: this.#snapshot() } : {}
    await this.#log.append(facts, { sync, ...snapshot })
    for (const fact of facts) this.#written.add(fact)
    this.#onWritten(batch)
  }

  #snapshot(): Snapshot {
    return { seq: this.#written.nextSeq, state: this.#written.snapshot() }
  }
}
