import type { Context, Scope } from '../kernel/index.ts'
import type { Account, Limits } from '../ledger/index.ts'
import type { Message } from '../message/index.ts'
import type { Authority } from '../policy/index.ts'
import type {
  Failure,
  InboxQueue,
  RequestParams,
  Session,
  TurnEndReason,
} from '../session/index.ts'

/** How a turn ended, after its `turn/end` was durable. */
export interface TurnOutcome {
  readonly turn: number
  readonly reason: TurnEndReason
  readonly error?: Failure
  /** The last assistant message of the turn, when it asks for no call. */
  readonly answer?: Message
}

/** Which model the next step uses, and how. A change lands on the next step, never within one. */
export interface ModelChoice {
  /** `<provider>/<model id>` */
  readonly model: string
  readonly params: RequestParams
}

export type AgentStatus =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly turn: number; readonly waiting?: string }

export interface SendOptions {
  readonly queue?: InboxQueue
  readonly wake?: boolean
  readonly typed?: string | undefined
}

/** A running participant: a session, a scope, an inbox and the loop that drives them. */
export interface Agent {
  readonly id: string
  readonly session: Session
  readonly scope: Scope
  readonly preset: string
  readonly account: Account
  /** Of a child never more than its parent has now. */
  authority: Authority
  choice: ModelChoice
  readonly status: AgentStatus
  readonly parent: Agent | undefined
  /** Rows of its preset that are not active, and why, and what rows say of it, for a person. */
  readonly notices: readonly string[]

  /**
   * Puts a message into the inbox, durably, and wakes the agent. `typed` is what of the text a
   * person typed: all of it unless given, and an empty one where a program speaks. Throws
   * `MESSAGE_EMPTY`, `AGENT_CLOSED` and, with the message in the inbox, `LOOP_MISSING`.
   */
  send(text: string, options?: SendOptions): Promise<Message>
  /** Next-step input for a running turn; wakes an idle agent. */
  steer(text: string): Promise<Message>
  /**
   * Writes other words in the place of those of a message that still waits, and releases it where
   * it is held; images stay. Throws `MESSAGE_EMPTY`, and `MESSAGE_GONE` for one that waits no more.
   */
  edit(id: string, text: string): Promise<Message>
  /** Has the waiting messages that are named come in this order, in the places they hold. */
  reorder(ids: readonly string[]): Promise<void>
  /**
   * Asks the model to go on with a turn that was cut short: it is told why, and of which calls the
   * outcome is unknown, with what their tools can find out. Joins the next step, wakes nobody.
   * Throws `NOTHING_INTERRUPTED`.
   */
  goOn(): Promise<Message>
  /** Takes entries out of the inbox by message id. */
  unsend(ids: readonly string[]): Promise<void>
  /** Releases entries that a hook rejected (`held`). */
  release(ids: readonly string[]): Promise<void>
  /** Ends the running turn; resolves when the agent is idle (at most the grace period later). */
  cancel(reason?: string): Promise<void>
  /**
   * Starts a turn when something free but a notice waits in the inbox. Resolves with the outcome
   * of that turn or of the one that runs; where that one was cancelled already, with the outcome
   * of the one after it. Throws `LOOP_MISSING`.
   */
  wake(): Promise<TurnOutcome | undefined>
  /** Resolves when no turn runs; what a turn that failed left in the inbox goes on waiting. */
  idle(): Promise<void>
  /** Cancels, closes its children, then the scope and the session. Idempotent. */
  close(): Promise<void>
}

export interface SpawnOptions {
  /** A function makes it, once it is sure that the agent may be started. */
  readonly session: Session | (() => Promise<Session>)
  readonly preset?: string
  readonly choice: ModelChoice
  readonly authority: Authority
  readonly limits?: Limits
  readonly parent?: Agent
}

/** May give notices about the agent, in words for a person. */
export type SpawnListener = (
  agent: Agent,
) => readonly string[] | void | Promise<readonly string[] | void>

/** `ctx.agents` */
export interface Agents {
  /** How deep below an agent that a person started there may be children. */
  readonly maxDepth: number
  /**
   * Mounts the preset in a fresh scope and gives the session a loop. A child gets the
   * intersection of its parent's authority and its own, and limits that can only shrink; its
   * session is deeper than its parent's. Throws `AGENT_CLOSED`, `AGENT_EXISTS`,
   * `PRESETS_MISSING`, and for a child `SUBAGENT_DEPTH_EXCEEDED` and
   * `SUBAGENT_CONCURRENT_BUDGET_EXCEEDED`; what of the session exists then stays its caller's.
   */
  spawn(options: SpawnOptions): Promise<Agent>
  get(id: string): Agent | undefined
  list(): readonly Agent[]
  /**
   * Before its first turn, which waits for `listener`; from an agent's scope, for that agent and
   * its children. The listener must not wait for a turn. What it throws is logged.
   */
  onSpawn(ctx: Context, listener: SpawnListener): void
}

declare module '@cordage/core/kernel' {
  interface Services {
    agents: Agents
  }
}
