import type { Agent, TurnOutcome } from './agent.ts'

/** What the loop may do to an agent besides what everybody may. */
export interface TurnControl {
  readonly signal: AbortSignal
  /** Tells watchers what the turn waits for; `undefined` when it goes on. */
  waiting(what: string | undefined): void
}

/** `ctx.loop`: runs one turn to its durable end. Never throws; a failure is an outcome. */
export interface Loop {
  runTurn(agent: Agent, control: TurnControl): Promise<TurnOutcome>
}

declare module '@cordage/core/kernel' {
  interface Services {
    loop: Loop
  }
}
