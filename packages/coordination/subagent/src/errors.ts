import { defineErrors } from '@cordage/core/error'

export const subagentError = defineErrors('subagent', {
  SUBAGENT_RUN_BUDGET_EXCEEDED: {
    message:
      '{started} children were started in this turn, and {maxDelegationsPerRun} may be.' +
      ' Do the rest here.',
  },
  /** `details.session` is the child's, whose log has all it did. */
  SUBAGENT_FAILED: {
    message:
      'The child agent did not finish ({reason}). What it changed stays changed:' +
      ' look at that before you try again.',
  },
})
