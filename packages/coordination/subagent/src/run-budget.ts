import type { Agent } from '@cordage/core/agent'
import { subagentError } from './errors.ts'

/** Counts the children that each agent starts in its present turn. */
export interface RunBudget {
  /** Takes one; the result gives it back. Throws `SUBAGENT_RUN_BUDGET_EXCEEDED`. */
  take(parent: Agent): () => void
}

export function countRuns(maxDelegationsPerRun: number): RunBudget {
  const runs = new WeakMap<Agent, { readonly turn: number; started: number }>()
  return {
    take(parent) {
      const { turn } = parent.session.turn
      const known = runs.get(parent)
      const run = known?.turn === turn ? known : { turn, started: 0 }
      const { started } = run
      if (started >= maxDelegationsPerRun) {
        throw subagentError('SUBAGENT_RUN_BUDGET_EXCEEDED', { started, maxDelegationsPerRun })
      }
      run.started += 1
      runs.set(parent, run)
      return () => void (run.started -= 1)
    },
  }
}
