import type { HistoryPruner } from '@cordage/core/compaction'
import { estimateMessage, estimateTokens } from '@cordage/core/model'
import type { PruningConfig } from './config.ts'
import { cutResult } from './cut-result.ts'

type PruneContext = Parameters<HistoryPruner['prune']>[1]

/**
 * The same history and pressure give the same cuts. Many at once, because each time the provider's
 * cache of the prefix is lost from the first cut on.
 */
export function createPruner(config: PruningConfig): HistoryPruner {
  return {
    prune(history, context) {
      let excess = excessOf(context, config)
      if (excess <= 0) return []
      const { messages } = history
      const kept = context.trigger === 'overflow' ? 0 : config.keepRecentMessages
      const cuts = []
      for (const message of messages.slice(0, Math.max(0, messages.length - kept))) {
        if (excess <= 0) break
        const text = cutResult(message, config)
        if (text === undefined) continue
        cuts.push({ messageId: message.id, text })
        excess -= estimateMessage(message) - estimateTokens(text)
      }
      return cuts
    },
  }
}

/** Tokens that have to go; all that can where somebody asks or a provider has refused the request. */
function excessOf({ trigger, pressure }: PruneContext, config: PruningConfig): number {
  if (trigger === 'manual' || trigger === 'overflow') return Infinity
  if (!pressure) return 0
  const { projectedTokens, contextWindow, outputTokens } = pressure
  const room = contextWindow - outputTokens
  if (projectedTokens < room * config.minWindowShare) return 0
  return projectedTokens - room * config.targetShare
}
