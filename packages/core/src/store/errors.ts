import { defineErrors } from '../error/index.ts'

/** What every store throws besides `SESSION_NOT_FOUND` and `SESSION_BUSY` of core/session. */
export const storeError = defineErrors('core-store', {
  STORE_WRITE_FAILED: {
    message:
      'Session {id} could not be saved: {reason}. Nothing of it is lost while this process runs;' +
      ' make room or fix the disk, and go on.',
    retryable: true,
  },
  STORE_WRITE_TIMEOUT: {
    message:
      'The disk that holds session {id} does not answer. What it was given to write is kept, and ' +
      'is written once; see whether the disk is there, and go on.',
    retryable: true,
  },
  STORE_FENCED: {
    message:
      'Another process has taken over session {id}; what this one adds is no longer part of it.' +
      ' Open it again to see how it went on.',
  },
  STORE_DAMAGED: { message: 'Session {id} cannot be used as it is: {reason}.' },
  STORE_FORMAT_NEWER: {
    message: 'Session {id} was written in format {format}, newer than this version reads; upgrade.',
  },
  STORE_ID_INVALID: {
    message:
      'A session cannot be called {id}: use 1 to 100 letters, digits, dots, dashes and underscores,' +
      ' beginning with a letter or a digit.',
  },
  STORE_ID_TAKEN: { message: 'There is already a session {id} in {location}; choose another id.' },
  BLOB_MISSING: { message: 'Session {id} has no blob {hash}, or its bytes no longer match.' },
})
