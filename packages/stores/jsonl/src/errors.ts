import { defineErrors } from '@cordage/core/error'

export const jsonlError = defineErrors('store-jsonl', {
  STORE_ID_INVALID: {
    message:
      'A session cannot be called {id}: use 1 to 100 letters, digits, dots, dashes and underscores,' +
      ' beginning with a letter or a digit.',
  },
  STORE_UNREADABLE: {
    message: '{location} cannot be read: {reason}; nothing of it was changed.',
  },
  STORE_ID_TAKEN: { message: 'There is already a session {id} in {location}; choose another id.' },
})
