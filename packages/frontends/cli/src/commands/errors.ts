import { defineErrors } from '@cordage/core/error'

export const cliError = defineErrors('cli', {
  USAGE: { message: '{reason}', exit: 2 },
  PROFILE_NO_FRONTEND: {
    message:
      'The profile {profile} has no way in from the command line; it is for embedding. ' +
      'Leave out --profile, or add a frontend with --patch.',
    exit: 78,
  },
  CREDENTIAL_NONE: {
    message:
      'No model is chosen and no credential was found. Keep a key with `cordage auth set ' +
      '<provider>`, set one of {ways} (a base URL alone will do for a server that takes no key), ' +
      'name a model with --model <provider>/<model id>, or try the recorded one: ' +
      '--model scripted/fix-a-bug.',
    exit: 78,
  },
  CATALOGUE_REFUSED: {
    message: 'The catalogue {from} is not taken: {reason} What was known before stays.',
  },
  PROBE_ANSWER_WRONG: { message: '{model} answered, but {reason}. Try another model.' },
  OUTPUT_FAILED: { message: 'stdout cannot be written: {reason}.' },
  SESSION_AMBIGUOUS: {
    message: 'Several sessions begin with "{id}": {ids}. Give more of it.',
    exit: 2,
  },
  SESSION_GONE: {
    message:
      'Session {id} is not there any more: it was deleted or moved while it was followed. ' +
      '`cordage sessions list` shows what is there.',
  },
  STEP_UNKNOWN: {
    message: 'Session {id} has no request of step {step}. Its steps: {steps}.',
    exit: 2,
  },
  REPLAY_EMPTY: {
    message: 'Session {id} holds no request that was sent from here, so there is none to compare.',
    exit: 2,
  },
  REPLAY_NO_COMPOSITION: {
    message:
      'Session {id} does not say with which rows it was run, so that none can be told from the ' +
      'present ones. Bisect over the rows of an overlay with --patch.',
    exit: 2,
  },
})
