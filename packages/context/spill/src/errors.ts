import { defineErrors } from '@cordage/core/error'

export const spillError = defineErrors('context-spill', {
  SPILL_UNKNOWN: {
    message:
      'Nothing of this session has the handle {handle}. Handles stand in notes of the harness.',
  },
  SPILL_PAST_END: { message: '{handle} has {bytes} bytes, so none at {offset}.' },
  SPILL_LOST: { message: 'What {handle} named is not in the store any more. Make it again.' },
})
