import type { Advice, ConfiguredRow } from '@cordage/core/kernel'
import { modelsOf } from '@cordage/core/model'
import { budgetOf } from './budget.ts'
import type { CompactionConfig } from './config.ts'

/** The models whose window is too small for the headroom, and what it is for each. */
export function adviseOnWindows(
  config: CompactionConfig,
  rows: readonly ConfiguredRow[],
): readonly Advice[] {
  const small = [...modelsOf(rows)].flatMap(([name, info]) => {
    const { headroomTokens } = budgetOf(info, {}, config)
    const { contextWindow, maxTokens } = info
    return headroomTokens < config.headroomTokens
      ? [`${headroomTokens} for ${name} (window ${contextWindow}, answers ${maxTokens})`]
      : []
  })
  if (small.length === 0) return []
  const text =
    `the headroom of ${config.headroomTokens} tokens is more than some windows leave, so that it is ` +
    `${small.join(', ')}. A smaller headroomTokens says so on purpose.`
  return [{ key: 'headroomTokens', text }]
}
