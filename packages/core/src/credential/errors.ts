import { defineErrors } from '../error/index.ts'

export const credentialError = defineErrors('core-credential', {
  CREDENTIAL_MISSING: {
    message:
      'There is no value for {name}. Keep one with `cordage auth set {name}`, or set the ' +
      'environment variable {name} for the process (`export {name}=...` before the command, or ' +
      '`{name}=... cordage ...`).',
    exit: 78,
  },
})
