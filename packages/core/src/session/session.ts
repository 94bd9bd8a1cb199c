import type { Context } from '../kernel/index.ts'
import type { Usage } from '../message/index.ts'
import type { AnyEventDefinition, EventDefinition, Fact, NewFact } from './event.ts'
import type { SessionHeader } from './header.ts'
import type { InboxState } from './inbox-events.ts'
import type { RequestHeader } from './request-events.ts'
import type { Salvaged } from './session-events.ts'
import type { SurfaceEntry } from './surface.ts'
import type { TurnEndReason } from './turn-events.ts'

/** Where a turn stands, folded from the log. `calls` are the open ones of the current step. */
export interface TurnState {
  readonly turn: number
  /** The fact that began it; absent where that is not known. */
  readonly since?: number | undefined
  readonly open: boolean
  readonly step: number
  readonly stepOpen: boolean
  readonly attempt: number
  readonly attemptOpen: boolean
  /** How the last turn ended that has; absent before, and in what older versions kept. */
  readonly lastEnd?: TurnEndReason
  /** Calls of the last assistant message that have no result yet, in the model's order. */
  readonly unanswered: readonly { callId: string; name: string; dispatched: boolean }[]
}

/** A piece of a running attempt as it arrives. Not a fact: lost unless a durable one follows. */
export interface LiveDelta {
  readonly turn: number
  readonly step: number
  readonly attempt: number
  readonly kind: 'text' | 'reasoning' | 'tool-call' | 'tool-output'
  /** For tool calls and their output. */
  readonly callId?: string
  readonly name?: string
  readonly text: string
}

/** What is read by people and programs that watch: facts in order, deltas between them. */
export type SessionUpdate =
  | { readonly kind: 'fact'; readonly fact: Fact }
  | { readonly kind: 'delta'; readonly delta: LiveDelta }

/** How safe facts have to be before `append` resolves. */
export interface AppendOptions {
  /** Written and flushed to the disk (the default), or only written. */
  readonly sync?: boolean
  /** Not even that: they are written together with the next batch, at the latest 20 ms later. */
  readonly later?: boolean
}

/** One continuing history: an append-only log and the folds over it. */
export interface Session {
  readonly id: string
  readonly header: SessionHeader
  /** `false` while another process owns the log; appending then throws `SESSION_READ_ONLY`. */
  readonly writable: boolean
  /** The place the next fact will have. */
  readonly nextSeq: number
  readonly surface: readonly SurfaceEntry[]
  /** Context ids whose last snapshot a summary replaced: their contributors give it again. */
  readonly shadowedContexts: readonly string[]
  readonly turn: TurnState
  readonly inbox: InboxState
  readonly requestHeader: RequestHeader | undefined
  /** What titles, compactions and other calls of models took that were no attempts at a step. */
  readonly spent: Usage
  /** The session's current directory: the last `session/directory`, else the project. */
  readonly cwd: string
  /** What reopening found and mended, in words for a person. */
  readonly notices: readonly string[]

  /**
   * Adds facts as one batch. The folds have them at once, watchers are told of them when they are
   * in the log, and the promise resolves when the batch is as safe as `options` say. A failed write
   * keeps the batch, which goes first with the next append; one that is late ends by itself, and
   * is not made twice. Throws `SESSION_READ_ONLY`, `SESSION_CLOSED`, `EVENT_INVALID` (nothing is
   * added), `STORE_WRITE_TIMEOUT`, and the store's codes.
   */
  append(facts: readonly NewFact[], options?: AppendOptions): Promise<readonly Fact[]>
  /**
   * Tells watchers of a delta, after the facts before it, and adds it, coalesced, to the live lane.
   * Never throws.
   */
  delta(delta: LiveDelta): void
  /** The folded value of a definition, known to the session or not. */
  state<Data, State>(definition: EventDefinition<Data, State>): State
  /** Facts from `seq` on, past ones read from the store. */
  read(from?: number): AsyncIterable<Fact>
  /**
   * Calls back for every update until the returned function is called or `ctx` unloads. `ended` is
   * called once, when nothing more can come: `SESSION_CLOSED`, and of a session that is only looked
   * at `SESSION_NOT_FOUND` once it is gone, or why it cannot be read any more.
   */
  watch(
    ctx: Context,
    listener: (update: SessionUpdate) => void,
    ended?: (reason: unknown) => void,
  ): () => void
  /** Throws `STORE_WRITE_TIMEOUT`, and the store's codes. */
  putBlob(bytes: Uint8Array): Promise<string>
  /** Throws `BLOB_MISSING`. */
  getBlob(hash: string): Promise<Uint8Array>
  /**
   * Nothing waits longer than `maxMs` for the store to write, from now on until the returned
   * function is called: for what has been told to end.
   */
  hurry(maxMs: number): () => void
  /** Appends what the last process left open: results, `attempt/failed`, ends. Idempotent. */
  repair(): Promise<void>
  /** Flushes and releases the log. Idempotent. */
  close(): Promise<void>
}

export interface OpenOptions {
  /** `write` throws `SESSION_BUSY` while somebody else owns the log. Default `write`. */
  readonly mode?: 'write' | 'read'
  /** Takes the lease from an owner that is alive but stopped. */
  readonly takeOver?: boolean
}

/** The kinds of fact that are known, those of core among them. */
export interface SessionEvents {
  /** Makes a kind of fact known (validated on append, folded into snapshots) until `ctx` unloads. */
  register<Data, State>(ctx: Context, definition: EventDefinition<Data, State>): void
  get(type: string): AnyEventDefinition | undefined
  list(): readonly AnyEventDefinition[]
}

export interface ForkOptions {
  /** The first fact that the fork does not begin with; its end unless given. */
  readonly before?: number
  /** As it was when this turn began. */
  readonly turn?: number
  /** Absolute; that of the session which is forked unless given. */
  readonly project?: string
  /** Of a child that an agent starts: its parent's and one more. 0 unless given. */
  readonly depth?: number
}

/** `ctx.sessions`: makes, opens and keeps the sessions of this process. */
export interface Sessions {
  create(
    header: Omit<SessionHeader, 'format' | 'id' | 'createdAt'> & { id?: string },
  ): Promise<Session>
  open(id: string, options?: OpenOptions): Promise<Session>
  /**
   * A new session that begins with the history of another one, without its inbox. Throws
   * `OPEN_TURN` inside a turn, `TURN_UNKNOWN`, and the store's codes.
   */
  fork(id: string, options?: ForkOptions): Promise<Session>
  /**
   * Writes all that can still be read of a damaged session into a new one. `project` is for the
   * case that not even the header is left.
   */
  salvage(id: string, options: { readonly project: string }): Promise<Salvaged>
  /** Sessions open in this process. */
  list(): readonly Session[]
  readonly events: SessionEvents
}

declare module '@cordage/core/kernel' {
  interface Services {
    sessions: Sessions
  }
}
