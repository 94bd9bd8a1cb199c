import type { Usage } from '../message/index.ts'

/** Absent means unlimited. A child has the smaller of its own and what its parent has left. */
export interface Limits {
  readonly maxSteps?: number
  readonly maxTokens?: number
  readonly maxCostUsd?: number
  readonly maxToolCalls?: number
  /** Epoch milliseconds. */
  readonly deadline?: number
}

export interface Totals {
  readonly steps: number
  readonly toolCalls: number
  readonly usage: Usage
  readonly costUsd: number
  /** Some route of this account declares no price, so that `costUsd` is too low. */
  readonly unpriced: boolean
}

/** A `side-call` asks a model aside from a step, as for a summary: it counts by what it costs. */
export type Reservation = 'step' | 'tool-call' | 'side-call'

/** The account of one agent; what it spends also counts for every account above it. */
export interface Account {
  readonly id: string
  readonly parent: Account | undefined
  readonly limits: Limits
  readonly totals: Totals
  /**
   * Reserves before the spend. Throws `BUDGET_EXCEEDED` with `details.limit` where this account
   * or one above it has nothing left, and then nothing is reserved.
   */
  reserve(what: Reservation): void
  /** Settles what a model call really cost. Past a limit, the next `reserve` is refused. */
  settle(usage: Usage, costUsd: number | undefined): void
  close(): void
}

/** `ctx.ledger` */
export interface Ledger {
  open(id: string, options: { parent?: Account; limits?: Limits }): Account
}

declare module '@cordage/core/kernel' {
  interface Services {
    ledger: Ledger
  }
}
