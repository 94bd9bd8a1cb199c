import type { CompressContext, CompressResult, ContextCompressor } from '@cordage/core/compaction'
import type { Models, ResolvedModel } from '@cordage/core/model'
import { budgetOf, type Budget } from './budget.ts'
import type { CompactionConfig } from './config.ts'
import { isInevitable, whyNotDue } from './due.ts'
import { createFloors } from './floor.ts'
import { createPauses } from './pauses.ts'
import { splitOf } from './split.ts'

/**
 * Sums the older part of a history up by a model, and without one where it has to. `noteSmall` is
 * told of each model, once, whose window is too small for the headroom.
 */
export function createCompressor(
  models: Models,
  config: CompactionConfig,
  noteSmall: (model: string, budget: Budget) => void,
): ContextCompressor {
  const pauses = createPauses(config)
  const floors = createFloors()
  const noted = new Set<string>()

  const note = ({ provider, model }: ResolvedModel, budget: Budget) => {
    const name = `${provider}/${model}`
    if (budget.headroomTokens >= config.headroomTokens || noted.has(name)) return
    noted.add(name)
    noteSmall(name, budget)
  }

  return {
    async compress(state, context) {
      const { agent, target } = context
      const budget = budgetOf(target.info, agent.choice.params, config)
      note(target, budget)
      const why = whyNotDue(state, context, budget, config)
      if (why) return skipped(why)
      const fixed = floors.check(context, budget)
      if (fixed) return fixed
      const split = splitOf(state, context, budget, config)
      if (split < 0) return skipped('no_safe_split')
      const must = isInevitable(context, budget)
      if (split < config.minMessagesToSummarize && !must) return skipped('too_few_messages')
      // Most processes end before anything has to be summed up.
      const { askModel, olderOf, replace } = await import('./sum-up.ts')
      const older = await olderOf(split, context, budget, config)
      const floor = floors.check(context, budget, older.pinned)
      if (floor) return floor
      // A person who asks is no loop: that neither waits for the end of a pause nor begins one.
      const own = context.trigger === 'manual' ? createPauses(config) : pauses
      if (own.isPaused(agent.session.id) && !must) return skipped('summariser_paused')
      const { snapshot, reason } = await askModel(older, context, { models, config, pauses: own })
      if (reason !== undefined && !goesOn(reason, context, must))
        return { outcome: 'failed', reason }
      return replace(state, context, older, snapshot)
    },
  }
}

/** Whether a summary without a model is better than none: a step that is refused needs no room. */
function goesOn(reason: string, { trigger }: CompressContext, must: boolean): boolean {
  return must && (reason !== 'BUDGET_EXCEEDED' || trigger === 'overflow')
}

function skipped(reason: string): CompressResult {
  return { outcome: 'skipped', reason }
}
