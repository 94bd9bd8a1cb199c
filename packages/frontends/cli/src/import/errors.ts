import { defineErrors } from '@cordage/core/error'

export const importError = defineErrors('cli-import', {
  IMPORT_NOT_FOUND: { message: 'There is nothing to read at {path}: {reason}.', exit: 2 },
  IMPORT_UNKNOWN: {
    message:
      '{path} holds no transcript of a program that is known ({formats}); name its format ' +
      'with --from if it is one.',
    exit: 2,
  },
  IMPORT_NEWER: {
    message: '{path} is an export in format {format}, newer than this version reads; upgrade.',
  },
  IMPORT_EMPTY: { message: '{path} holds no message, so that no session was made of it.' },
})
