import type { ModelInfo } from '@cordage/core/model'
import type { RequestParams } from '@cordage/core/session'
import type { CompactionConfig } from './config.ts'

/** Of the window: a summary of one chunk has to fit beside the next one. */
const MAX_SUMMARY_SHARE = 0.25

/** The output cap of the call for a summary. */
export function summaryCap(
  { contextWindow, maxTokens }: Pick<ModelInfo, 'contextWindow' | 'maxTokens'>,
  { summary }: Pick<CompactionConfig, 'summary'>,
): number {
  const share = Math.max(1, Math.floor(contextWindow * MAX_SUMMARY_SHARE))
  return Math.min(summary.maxTokens, maxTokens, share)
}

/** When a request is too large for a model, and how much of the end stays, in tokens. */
export interface Budget {
  /** From here on it is time. */
  readonly threshold: number
  readonly keepTokens: number
  /** What a request and its answer may take at most. */
  readonly room: number
  /** Less than what was configured: the window is too small for that. */
  readonly headroomTokens: number
}

/**
 * `T = floor(min(W * 0.8, W - O - B))` with window `W`, output cap `O` and headroom `B`, which
 * shrinks to half of `W - O`, at least to its stated floor, where it does not fit.
 */
export function budgetOf(
  { contextWindow, maxTokens }: Pick<ModelInfo, 'contextWindow' | 'maxTokens'>,
  params: Pick<RequestParams, 'maxTokens'>,
  config: Pick<CompactionConfig, 'headroomTokens' | 'minHeadroomTokens' | 'maxShare' | 'keepShare'>,
): Budget {
  const output = Math.min(params.maxTokens ?? maxTokens, maxTokens)
  const room = Math.max(1, contextWindow - output)
  const fits = room - config.headroomTokens > 0
  const least = Math.min(config.minHeadroomTokens, Math.floor(room / 2))
  const headroomTokens = fits ? config.headroomTokens : least
  const threshold = Math.floor(Math.min(contextWindow * config.maxShare, room - headroomTokens))
  const keepTokens = Math.floor(Math.min(room * config.keepShare, threshold / 2))
  return { threshold, keepTokens, room, headroomTokens }
}
