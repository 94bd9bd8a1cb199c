import type { Context, Scope } from '../kernel/index.ts'
import type { Actor, Decision, Effect } from './effect.ts'

/** How far a grant reaches that outlives its call. */
export type GrantScope = 'session' | 'project' | 'user'

/**
 * Judges one effect, or passes (`undefined`). The strictest answer of all rules wins; an `allow`
 * of a rule only lifts an `ask` of the mode, never a `deny` and never a protected path.
 */
export interface Rule {
  readonly id: string
  readonly decide: (effect: Effect, actor: Actor) => Decision | undefined
}

/** `ctx.policy`: the one gate of effects. */
export interface Policy {
  decide(effect: Effect, actor: Actor): Decision
  /** Adds a rule until `ctx` unloads; from an agent's scope it holds for that agent only. */
  rule(ctx: Context, rule: Rule): void
  /** Remembers that a person allowed this effect, for as long as `scope` says. */
  grant(effect: Effect, actor: Actor, scope: GrantScope): void
}

export interface ApprovalRequest {
  readonly id: string
  readonly actor: Actor
  readonly tool?: string
  readonly effects: readonly Effect[]
  readonly reason: string
}

export interface ApprovalAnswer {
  readonly outcome: 'allowed' | 'denied' | 'unanswered'
  /** `once`, also where it is absent: for this call alone, of which nothing is remembered. */
  readonly scope?: GrantScope | 'once'
  /** Who answered: a frontend's row, `headless`. */
  readonly by: string
  readonly reason?: string
}

/** Answers an approval, or passes with `undefined` so that the next in order is asked. */
export type Answerer = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => Promise<ApprovalAnswer | undefined>

/** `ctx.approvals`: no answer is never a yes; a throwing answerer counts as no answer. */
export interface Approvals {
  ask(request: ApprovalRequest, signal: AbortSignal, scope?: Scope): Promise<ApprovalAnswer>
  answerer(ctx: Context, answerer: Answerer, options?: { order?: number }): void
}

declare module '@cordage/core/kernel' {
  interface Services {
    policy: Policy
    approvals: Approvals
  }
}
