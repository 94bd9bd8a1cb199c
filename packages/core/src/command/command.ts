import type { Context, Scope } from '../kernel/index.ts'
import type { Account } from '../ledger/index.ts'
import type { Authority } from '../policy/index.ts'
import type { RequestParams, Session } from '../session/index.ts'

/** The agent that a person talks to, as commands see it; every `Agent` is one. */
export interface CommandAgent {
  readonly id: string
  readonly session: Session
  readonly scope: Scope
  readonly account: Account
  authority: Authority
  /** A change lands on the next step. */
  choice: { readonly model: string; readonly params: RequestParams }
  cancel(reason?: string): Promise<void>
}

/** What a command says to the person, or the task that it makes for the agent instead. */
export type CommandAnswer =
  | { readonly text: string; readonly task?: undefined }
  | { readonly task: string; readonly text?: undefined }

export type CommandResult = CommandAnswer & { readonly name: string }

/** Something that a person may ask for as `/name arguments`, without any model seeing it. */
export interface Command {
  /** Lower-case words joined by `-`. */
  readonly name: string
  /** What it does, in a few words. */
  readonly description: string
  /** `args` is the text after the name, trimmed. */
  run(
    args: string,
    agent: CommandAgent,
    signal: AbortSignal,
  ): CommandAnswer | Promise<CommandAnswer>
}

/** `ctx.commands` */
export interface Commands {
  /** Adds `command` until `ctx` unloads; from an agent's scope only that agent has it. */
  register(ctx: Context, command: Command): void
  /**
   * Calls `look` whenever somebody is about to look for a command, until `ctx` unloads: it brings
   * those up to date that come and go with files, say. What it throws is logged.
   */
  source(ctx: Context, look: (agent: CommandAgent) => unknown): void
  /** Has every source look: for whoever shows a list, `run` does it by itself. */
  refresh(agent: CommandAgent): Promise<void>
  /** Those that a person may give to an agent of `scope`, by name. */
  list(scope?: Scope): readonly Command[]
  /**
   * Runs `text` where it has the form of a command; `undefined` says that it has not and is meant
   * for the model. Throws `COMMAND_UNKNOWN` with the nearest names, and `COMMAND_FAILED`.
   */
  run(text: string, agent: CommandAgent, signal: AbortSignal): Promise<CommandResult | undefined>
}

declare module '@cordage/core/kernel' {
  interface Services {
    commands: Commands
  }
}
