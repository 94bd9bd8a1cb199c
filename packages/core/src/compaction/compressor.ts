import type { Agent } from '../agent/index.ts'
import type { Message, Usage } from '../message/index.ts'
import type { ResolvedModel } from '../model/index.ts'
import type { PinnedFact } from '../session/index.ts'
import type { Pressure } from './meter.ts'
import type { Pins } from './pins.ts'

/** What an older part of a history became. The originals stay in the log, and readable. */
export interface EpisodicMemory {
  readonly id: string
  /** The facts whose messages it stands for: the `seq` of the first and of the last. */
  readonly covers: { readonly from: number; readonly to: number }
  readonly summary: string
  /** What was carried over word for word. */
  readonly pinned: readonly PinnedFact[]
}

/**
 * A draft of what the model sees: a compressor may replace both members, nothing else does. The
 * messages are gathered when they are first asked for: mostly it is not time, at any length.
 */
export interface History {
  /** Oldest first, system prompts aside. */
  messages: readonly Message[]
  episodicMemories: readonly EpisodicMemory[]
}

/** Tokens of one model call of the session, the last ones of each kind that it keeps. */
export interface UsageRecord {
  readonly promptTokens: number
  readonly completionTokens: number
  /** Set on calls that made a summary: they never cause the next one. */
  readonly source?: 'context_compression'
}

/** What a compressor is given to work on. It is thrown away unless the outcome is `compressed`. */
export interface AgentState {
  readonly history: History
  /** Oldest first. */
  readonly usages: readonly UsageRecord[]
}

/** Why a compaction is asked for. Only `pressure` asks whether it is time. */
export type CompactionTrigger = 'pressure' | 'manual' | 'overflow' | 'model-switch'

/** The calls behind a usage, for the ledger and the log. */
export interface SpentOn {
  readonly provider: string
  readonly model: string
  readonly costUsd?: number
}

export interface CompressContext {
  readonly idGenerator: () => string
  readonly signal: AbortSignal
  /** Stages what the calls have used together; said again, it replaces what was said before. */
  readonly onUsage: (usage: Usage, on?: SpentOn) => void
  readonly trigger: CompactionTrigger
  readonly agent: CompactedAgent
  /** The model that the next request is for. */
  readonly target: ResolvedModel
  /** What the next request would take; absent without a meter. */
  readonly pressure: Pressure | undefined
  /** What would enter the conversation with the next request; it stays as it is. */
  readonly pending: readonly Message[]
  /** What plugins have to say now of what no summary may lose, by the id of the contributor. */
  readonly pins: () => Promise<Pins>
}

/** What a compaction needs of an agent. */
export type CompactedAgent = Pick<Agent, 'id' | 'session' | 'scope' | 'account' | 'choice'>

export type CompressOutcome = 'skipped' | 'compressed' | 'failed'

export interface CompressResult {
  readonly outcome: CompressOutcome
  /**
   * Skipped: `no_usage`, `history_too_short`, `below_threshold`, `last_usage_is_compression`,
   * `no_safe_split`, `too_few_messages`, `irreducible_floor`. Failed: a code of the compressor, or of
   * the scheduler: `result_invalid`, `missing_episode_id`, `history_changed`, `no_progress`,
   * `history_invalid`, `post_commit_pairing_violation`.
   */
  readonly reason?: string
  /** The `EpisodicMemory` that was added. `compressed` without one counts as failed. */
  readonly episodeId?: string
  readonly usage?: Usage
  /** For people: what was measured, who contributed what. */
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * Compresses the older part of a history into one message and one episode, in the draft that it is
 * given. Transactional: where it fails or skips, the history and the usage records stay exactly as
 * they were, whatever it did to the draft.
 */
export interface ContextCompressor {
  compress(state: AgentState, context: CompressContext): Promise<CompressResult>
}

/** What of old tool results may be cut without any model. */
export interface HistoryPruner {
  /** The results to replace, by message id, with what the model sees in their place. */
  prune(
    history: Readonly<Pick<History, 'messages'>>,
    context: Omit<CompressContext, 'onUsage' | 'idGenerator' | 'pins'>,
  ): readonly { readonly messageId: string; readonly text: string }[]
}
