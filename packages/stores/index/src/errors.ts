import { defineErrors } from '@cordage/core/error'

export const indexError = defineErrors('store-index', {
  SESSION_QUERY_SEARCH_DISABLED: {
    message:
      'Searching in sessions is switched off here (openAt: never in the row {row}). Single sessions ' +
      'can be read all the same.',
    exit: 78,
  },
  SESSION_QUERY_INVALID: { message: 'This cannot be searched for: {reason}.', exit: 2 },
  SESSION_QUERY_EVENT_NOT_FOUND: {
    message: 'Session {id} has no fact {seq}; it has {count}, counted from 0.',
    exit: 2,
  },
  SESSION_QUERY_INDEX_FAILED: {
    message:
      'The index of the sessions cannot be used: {reason}. No session is touched by that; ' +
      '`cordage doctor --rebuild` makes it anew.',
    retryable: true,
    exit: 1,
  },
})
