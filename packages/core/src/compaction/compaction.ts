import type { Context, Scope } from '../kernel/index.ts'
import type { Message } from '../message/index.ts'
import type { ResolvedModel } from '../model/index.ts'
import type {
  CompactedAgent,
  CompactionTrigger,
  CompressResult,
  ContextCompressor,
  HistoryPruner,
} from './compressor.ts'
import type { Pressure } from './meter.ts'
import type { PinContributor } from './pins.ts'

export interface CompactionRequest {
  readonly trigger: CompactionTrigger
  /** The model that the next request is for. */
  readonly target: ResolvedModel
  /** What would enter the conversation with that request. */
  readonly pending?: readonly Message[]
  readonly signal: AbortSignal
}

/** What came of a compaction, and of the pruning before it. */
export interface CompactionReport {
  /** Tool results that were cut. */
  readonly pruned: number
  readonly result: CompressResult
  /** Absent without a meter. */
  readonly before: Pressure | undefined
  readonly after: Pressure | undefined
}

/**
 * `ctx.compaction`: prunes, measures, then compresses. Each pruning and each compression commits
 * whole or not at all, as one batch of facts; what was committed before a failure stays.
 */
export interface Compaction {
  /**
   * One per scope; it runs before the compressor, in a transaction of its own. One that throws is
   * logged and cuts nothing.
   */
  pruner(ctx: Context, pruner: HistoryPruner): void
  /** One per scope: a preset may have another one than the rest. */
  compressor(ctx: Context, compressor: ContextCompressor): void
  /**
   * Has summaries carry facts of a plugin word for word. One that throws is logged, and what it
   * said before stays.
   */
  pin(ctx: Context, contributor: PinContributor): void
  /** Something prunes or compresses for agents of `scope`. */
  isReady(scope: Scope): boolean
  /**
   * Compacts the history of an agent. Never two at once for a session: a `manual` one throws
   * `COMPACTION_BUSY` then and while a turn is open, any other one waits. Throws
   * `COMPACTOR_MISSING`, the signal's reason, and the store's codes; a compressor that throws has
   * failed with the code of what it threw.
   */
  compact(agent: CompactedAgent, request: CompactionRequest): Promise<CompactionReport>
  /** Resolves when the compaction of the session that runs now has ended. */
  settled(sessionId: string): Promise<void>
}

declare module '@cordage/core/kernel' {
  interface Services {
    compaction: Compaction
  }
}
