import type { Fact, LiveDelta, SessionUpdate } from '../session/index.ts'

/**
 * What watchers are told, in order: a fact once the log has it, so that nobody acts upon what a
 * crash takes back, and a delta at once unless a fact before it still waits.
 */
export class Outbox {
  readonly #tell: (updates: readonly SessionUpdate[]) => void
  #waiting: SessionUpdate[] = []

  constructor(tell: (updates: readonly SessionUpdate[]) => void) {
    this.#tell = tell
  }

  facts(facts: readonly Fact[]): void {
    for (const fact of facts) this.#waiting.push({ kind: 'fact', fact })
  }

  delta(delta: LiveDelta): void {
    const update = { kind: 'delta', delta } as const
    if (this.#waiting.length === 0) this.#tell([update])
    else this.#waiting.push(update)
  }

  /** The log has all facts up to this one. */
  written(seq: number): void {
    const next = this.#waiting.findIndex((one) => one.kind === 'fact' && one.fact.seq > seq)
    const told = this.#waiting.splice(0, next < 0 ? Infinity : next)
    if (told.length > 0) this.#tell(told)
  }
}
