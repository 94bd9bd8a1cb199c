import { defineErrors } from '@cordage/core/error'

export const jsonlError = defineErrors('store-jsonl', {
  STORE_UNREADABLE: {
    message: '{location} cannot be read: {reason}; nothing of it was changed.',
  },
})
