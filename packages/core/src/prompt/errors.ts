import { defineErrors } from '../error/index.ts'

export const promptError = defineErrors('core-prompt', {
  PROMPT_FAILED: {
    message:
      'Row {row} failed while it wrote the prompt part {id}: {reason} Disable the row or mend it, ' +
      'then send again.',
  },
})
