import { compactionError, type Compaction, type CompactionReport } from '@cordage/core/compaction'
import type { Command } from '@cordage/core/command'
import type { Models } from '@cordage/core/model'

/** `/compact`: now, whatever the pressure. */
export function compactCommand(compaction: Compaction, models: Models): Command {
  return {
    name: 'compact',
    description: 'Replaces the older part of the conversation by a summary of it.',
    async run(_args, agent, signal) {
      const target = models.resolve(agent.choice.model)
      const report = await compaction.compact(agent, { trigger: 'manual', target, signal })
      return { text: textOf(report) }
    },
  }
}

function textOf({ pruned, result, before, after }: CompactionReport): string {
  const { outcome, reason = '', episodeId } = result
  if (outcome === 'failed') throw compactionError('COMPACTION_FAILED', { reason })
  const cut = pruned > 0 ? `${pruned} old tool results were cut. ` : ''
  if (outcome === 'skipped') return `${cut}Nothing to summarise: ${reason.replaceAll('_', ' ')}.`
  const sizes =
    before && after
      ? ` The next request takes ${after.projectedTokens} tokens instead of ${before.projectedTokens}.`
      : ''
  return `${cut}The older messages are now a summary (episode ${episodeId}).${sizes}`
}
