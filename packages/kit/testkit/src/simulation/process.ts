import type { ProcessOptions } from './disk.ts'
import { systemFailure, type Fault, type IoCall } from './fault.ts'

/** What a call does. `partly` is for those that can stop half-way; `lost` is what a failure costs. */
export interface Effect<T> {
  readonly whole: () => T
  readonly partly?: (random: () => number) => void
  readonly lost?: () => void
}

/** Counts the calls of one process and lets go wrong what is to go wrong. */
export class SimulatedProcess {
  readonly calls: IoCall[] = []
  alive = true
  readonly #random: () => number
  readonly #options: ProcessOptions

  constructor(random: () => number, options: ProcessOptions) {
    this.#random = random
    this.#options = options
  }

  kill(): void {
    this.alive = false
  }

  /** `make` gives what the call does, once it is its turn. */
  async call<T>(place: Omit<IoCall, 'number'>, make: (short: number) => Effect<T>): Promise<T> {
    const call = { number: this.calls.length + 1, ...place }
    this.#assertAlive(call)
    this.calls.push(call)
    const { schedule } = this.#options
    if (schedule) {
      await schedule(call)
      // Somebody else may have ended it meanwhile.
      this.#assertAlive(call)
    }
    const fault = this.#options.faults?.(call)
    const effect = make(fault && 'short' in fault ? fault.short : Infinity)
    if (!fault || 'short' in fault) return effect.whole()
    this.#suffer(fault, effect)
    if ('fail' in fault) throw systemFailure(fault.fail, call)
    this.kill()
    throw systemFailure(gone, call)
  }

  #suffer<T>(fault: Exclude<Fault, { short: number }>, effect: Effect<T>): void {
    const when = 'crash' in fault ? fault.crash : (fault.when ?? 'before')
    if (when === 'after') effect.whole()
    else if ('fail' in fault) effect.lost?.()
    if (when === 'within') effect.partly?.(this.#random)
  }

  #assertAlive(call: IoCall): void {
    if (!this.alive) throw systemFailure(gone, call)
  }
}

/** No system has it: a process that was killed is told nothing. */
const gone = 'EKILLED'
