import { defineErrors } from '@cordage/core/error'

export const jsonlError = defineErrors('store-jsonl', {
  STORE_UNREADABLE: {
    message: '{location} cannot be used: {reason}; nothing of it was changed.',
  },
  STORE_REMOVE_FAILED: {
    message:
      'Session {id} could not be removed: {reason}. What is left of it is at {location}; ' +
      'make that yours and delete it again, or remove it by hand.',
  },
})
