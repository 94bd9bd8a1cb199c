import { defineErrors } from '@cordage/core/error'

export const checkpointError = defineErrors('policy-checkpoint', {
  CHECKPOINT_TURN_UNKNOWN: {
    message: 'Session {id} has no turn {turn} to go back to; its turns are 1 to {last}.',
    exit: 2,
  },
  CHECKPOINT_NOTHING_TO_UNDO: {
    message: 'Session {id} has no rewind to undo: {reason}.',
    exit: 2,
  },
  CHECKPOINT_CONFLICT: {
    message:
      'Nothing was put back: {files} changed after the session left them. Look at them, and put ' +
      'them back all the same with --force.',
  },
  CHECKPOINT_DENIED: { message: '{path} cannot be put back: {reason}.', exit: 77 },
})
