import { defineErrors } from '../error/index.ts'

export const compactionError = defineErrors('core-compaction', {
  COMPACTION_BUSY: {
    message: 'The session cannot be compacted while {what}. Wait until it is idle, then try again.',
    exit: 75,
  },
  COMPACTOR_MISSING: {
    message: 'No row compacts histories here. Enable context-compaction, or another one.',
    exit: 78,
  },
  COMPACTION_FAILED: {
    message: 'The compaction failed ({reason}); the history is as it was.',
  },
  MODEL_SWITCH_COMPACTION_FAILED: {
    message:
      '{what} in the window of {model} ({reason}). Choose a model with a larger window, or the one ' +
      'that was used before.',
  },
})
