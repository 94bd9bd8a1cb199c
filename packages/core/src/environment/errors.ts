import { defineErrors } from '../error/index.ts'

/** Failures of files, searches and processes, the same for every place they may be in. */
export const environmentError = defineErrors('core-environment', {
  FILE_NOT_FOUND: { message: 'There is no {path}.' },
  FILE_EXISTS: { message: '{path} exists already.' },
  FILE_DENIED: { message: 'No access to {path}: {reason}.' },
  FILE_STALE: { message: '{path} has changed since it was read; read it again.' },
  FILE_IS_DIRECTORY: { message: '{path} is a directory.' },
  FILE_NOT_DIRECTORY: { message: '{path} is not a directory.' },
  FILE_TOO_LARGE: { message: '{path}: {size} bytes at once, at most {max}; use a smaller range.' },
  FILE_FAILED: { message: '{path} could not be used: {reason}.' },
  DISK_FULL: { message: 'No space left to write {path}; what was there is unchanged.' },
  TARGET_MOVED: {
    message: '{path} was replaced or moved while it was in use, so nothing was done; try again.',
  },
  PATH_INVALID: { message: '{path} cannot be used as a file: {reason}.' },
  PATTERN_INVALID: { message: 'The pattern {pattern} is not valid: {reason}' },
  SEARCH_FAILED: { message: 'The search in {path} failed: {reason}' },
  PROCESS_START_FAILED: { message: '{program} could not be started: {reason}.' },
})
