import { defineErrors } from '@cordage/core/error'

export const referenceError = defineErrors('context-references', {
  REFERENCE_UNKNOWN: {
    message: 'There is no session {id}; `cordage sessions list` shows those there are.',
  },
  REFERENCE_AMBIGUOUS: {
    message: '{id} is how {count} sessions begin, as {ids}; write more of the one that is meant.',
  },
  REFERENCE_TO_ITSELF: { message: '{id} is this session, which the model has before it.' },
  REFERENCE_TOO_MANY: { message: '{count} sessions are named, and at most {max} may be.' },
  REFERENCE_UNREADABLE: { message: 'The session {id} cannot be read: {reason}' },
})
