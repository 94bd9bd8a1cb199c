import type { AnyEventDefinition, Fact } from './event.ts'

/** JSON of a `StateFold`, as a snapshot holds it. */
export interface StateSnapshot {
  readonly states: Readonly<Record<string, unknown>>
  readonly unknown: readonly Fact[]
}

export type ReportReducer = (type: string, error: unknown) => void

/**
 * The states of the definitions. Facts of a type that nobody has defined yet wait here (a plugin
 * may be mounted after its session was opened, or come back next year) and are folded once
 * somebody does.
 */
export class StateFold {
  readonly #states: Map<string, unknown>
  readonly #waiting = new Map<string, Fact[]>()
  readonly #report: ReportReducer

  /** A reducer that throws leaves its state as it was and is reported. */
  constructor(snapshot: StateSnapshot | undefined, report: ReportReducer) {
    this.#report = report
    this.#states = new Map(Object.entries(snapshot?.states ?? {}))
    for (const fact of snapshot?.unknown ?? []) this.#wait(fact)
  }

  /** Folds `fact`; without a definition of its version it waits for one. */
  add(fact: Fact, definition: AnyEventDefinition | undefined): void {
    if (!definition || fact.v > definition.version) return this.#wait(fact)
    if (this.#waiting.has(fact.type)) this.#settle(definition)
    this.#reduce(definition, fact)
  }

  get(definition: AnyEventDefinition): unknown {
    this.#settle(definition)
    return this.#states.has(definition.type)
      ? this.#states.get(definition.type)
      : definition.initial
  }

  toJSON(): StateSnapshot {
    const unknown = [...this.#waiting.values()].flat()
    return {
      states: Object.fromEntries(this.#states),
      unknown: unknown.sort((a, b) => a.seq - b.seq),
    }
  }

  #wait(fact: Fact): void {
    const waiting = this.#waiting.get(fact.type)
    if (waiting) waiting.push(fact)
    else this.#waiting.set(fact.type, [fact])
  }

  #settle(definition: AnyEventDefinition): void {
    const waiting = this.#waiting.get(definition.type)
    if (!waiting) return
    this.#waiting.delete(definition.type)
    for (const fact of waiting) {
      if (fact.v > definition.version) this.#wait(fact)
      else this.#reduce(definition, fact)
    }
  }

  #reduce(definition: AnyEventDefinition, fact: Fact): void {
    const { type, initial } = definition
    const before = this.#states.has(type) ? this.#states.get(type) : initial
    try {
      const after = definition.reduce(before, definition.upgraded(fact))
      if (after === undefined) this.#states.delete(type)
      else this.#states.set(type, after)
    } catch (error) {
      this.#report(type, error)
    }
  }
}
