import type { Message, Usage } from '../message/index.ts'
import type { ResolvedModel } from '../model/index.ts'
import type { RequestParams, Session, Stability } from '../session/index.ts'

/** What a request would take of its model's window, in tokens, before it is sent. */
export interface Pressure {
  /** The whole request: what a provider counted of it, and an estimate of what is new. */
  readonly projectedTokens: number
  /** Of these, what the last usage of the provider covers; 0 where none applies. */
  readonly anchoredTokens: number
  readonly contextWindow: number
  /** The effective cap of the answer, which needs room in the window as well. */
  readonly outputTokens: number
}

/** One part of a breakdown: what it is, the row that contributed it, and estimated tokens. */
export interface BreakdownPart {
  readonly part: string
  readonly row: string
  readonly tokens: number
  /** How long it stays as it is, where its row declares that. */
  readonly stability?: Stability
}

/** Where the tokens of the next request come from. Estimates: their sum is no `Pressure`. */
export interface ContextBreakdown {
  readonly system: readonly BreakdownPart[]
  readonly tools: readonly BreakdownPart[]
  readonly messages: readonly BreakdownPart[]
  /** Of these none is in `messages`: images, what tools have read, and files that rows have added. */
  readonly files: readonly BreakdownPart[]
}

export interface MeterInput {
  readonly session: Session
  readonly target: ResolvedModel
  readonly params: RequestParams
  /** What would enter the conversation with the request. */
  readonly pending?: readonly Message[]
}

/**
 * `ctx.meter`: three figures that are never mixed. None of them calls a model.
 */
export interface ContextMeter {
  /** The pressure of the next request. */
  measure(input: MeterInput): Pressure
  contextBreakdown(input: MeterInput): ContextBreakdown
  /** What the session's own calls have used so far, all but those of children. */
  cumulativeUsage(session: Session): Usage
}

declare module '@cordage/core/kernel' {
  interface Services {
    meter: ContextMeter
  }
}
