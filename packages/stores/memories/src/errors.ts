import { defineErrors } from '@cordage/core/error'

export const memoriesError = defineErrors('store-memories', {
  MEMORY_UNKNOWN: {
    message:
      'No memory {id} can be {verb} here. Search for it first: its id stands before its text.',
    exit: 2,
  },
  MEMORIES_FAILED: {
    message:
      'What is remembered in {path} cannot be used: {reason}. Nothing was changed; mend that and' +
      ' try again.',
    retryable: true,
    exit: 1,
  },
})
