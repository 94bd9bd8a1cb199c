import { defineErrors } from '../error/index.ts'

export const sessionError = defineErrors('core-session', {
  SESSION_NOT_FOUND: {
    message: 'There is no session {id} in {location}; `cordage sessions list` shows what is there.',
  },
  SESSION_BUSY: {
    message:
      'Session {id} is open in another place that may still write to it; close that one first,' +
      ' or pass --take-over if it has stopped for good.',
    retryable: true,
    exit: 75,
  },
  SESSION_READ_ONLY: {
    message: 'Session {id} was opened for reading only; open it for writing to add to it.',
  },
  INTERRUPTED: {
    message: 'The process stopped before this ended.',
    retryable: true,
    exit: 1,
  },
  SESSION_CLOSED: { message: 'Session {id} is closed; open it again to go on.' },
  OPEN_TURN: {
    message:
      'Turn {turn} of session {id} has not ended before fact {seq}, so nothing can begin there:' +
      ' let it end, or choose the beginning of a turn.',
  },
  TURN_UNKNOWN: { message: 'Session {id} has no turn {turn}; `cordage sessions show` has them.' },
  EVENT_INVALID: {
    message: 'A fact of type {type} cannot be logged: {reason}. Nothing of its batch was added.',
  },
})
