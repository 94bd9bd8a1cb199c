import type { AgentState, CompressContext } from '@cordage/core/compaction'
import type { Budget } from './budget.ts'
import type { CompactionConfig } from './config.ts'

/** Why it is not time. A person and a request that was refused never ask. */
export function whyNotDue(
  { usages, history }: AgentState,
  { trigger, pressure }: CompressContext,
  { threshold }: Budget,
  config: CompactionConfig,
): string | undefined {
  if (trigger === 'manual' || trigger === 'overflow') return undefined
  const last = usages.at(-1)
  if (config.trigger === 'window') {
    if (!pressure) return 'no_usage'
    if (pressure.projectedTokens < threshold) return 'below_threshold'
    return last?.source && trigger === 'pressure' ? 'last_usage_is_compression' : undefined
  }
  // The usage was of another model: of this one the window counts.
  if (trigger === 'model-switch' && pressure && pressure.projectedTokens >= threshold)
    return undefined
  if (!last) return 'no_usage'
  if (history.messages.length <= config.keepRecentMessageCount) return 'history_too_short'
  if (last.promptTokens < config.totalTokenThreshold) return 'below_threshold'
  return last.source ? 'last_usage_is_compression' : undefined
}

/** The request cannot be made as it is, so that anything shorter is better than nothing. */
export function isInevitable({ trigger, pressure }: CompressContext, { room }: Budget): boolean {
  return trigger === 'overflow' || (pressure?.projectedTokens ?? 0) > room
}
