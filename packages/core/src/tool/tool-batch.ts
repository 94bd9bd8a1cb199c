import type { Context, Scope } from '../kernel/index.ts'
import type { Account } from '../ledger/index.ts'
import type { ToolCallPart } from '../message/index.ts'
import type { Actor } from '../policy/index.ts'
import type { Session } from '../session/index.ts'
import type { Clock } from '../store/index.ts'
import type { SeenFiles } from './tool.ts'
import type { ResolvedToolSet } from './tools.ts'

/** The calls of one assistant message and everything they run with. */
export interface ToolBatch {
  readonly ctx: Context
  readonly session: Session
  readonly scope: Scope
  /** `authority` is read anew at each decision, so a getter makes a downgrade effective at once. */
  readonly actor: Actor
  readonly account: Account
  readonly toolset: ResolvedToolSet
  /** In the model's order; ids are unique. */
  readonly calls: readonly ToolCallPart[]
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
  readonly project: string
  /** Where the batch starts; a call that changes the session's directory moves later ones. */
  readonly cwd: string
  /** Calls that may overlap; 1 runs them one after the other. */
  readonly maxParallel: number
  /** How long a started body may take to settle after an abort or its time limit. */
  readonly graceMs: number
  readonly clock: Clock
  /** When the turn was told to end: its grace period is one, whatever has to end in it. */
  readonly endingSince?: () => number | undefined
  /** Tells watchers what the batch waits for besides its tools; `undefined` when it goes on. */
  readonly waiting?: (what: string | undefined) => void
  /** One for the life of the session: see `createSeenFiles`. */
  readonly seen: SeenFiles
}
