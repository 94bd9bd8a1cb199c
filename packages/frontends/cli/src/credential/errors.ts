import { defineErrors } from '@cordage/core/error'

export const credentialFileError = defineErrors('cli-credential', {
  CREDENTIAL_FILE_UNSAFE: {
    message: '{file} is not used: {reason}. {remedy}',
    exit: 78,
  },
  CREDENTIAL_FILE_INVALID: {
    message: '{file}:{line}: {reason}. Each line is `NAME: value`.',
    exit: 78,
  },
  CREDENTIAL_FILE_BUSY: {
    message: 'Process {pid} is changing {file}. Try again when it ends.',
    exit: 75,
  },
  CREDENTIAL_AS_ARGUMENT: {
    message:
      'A key on the command line stays in the history of the shell and is seen by every process ' +
      'of this machine, so that none is taken from there. Type it when asked, or pipe it in: ' +
      'cordage auth set {target} < file',
    exit: 2,
  },
  CREDENTIAL_UNKNOWN: { message: '{reason}', exit: 1 },
  CREDENTIAL_REFUSED: {
    message: 'Nothing was kept for {name}: {reason}.',
    exit: 2,
  },
})
