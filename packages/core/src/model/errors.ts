import { defineErrors } from '../error/index.ts'

const advice = 'Check the route in its row and try `cordage models test`.'

/** What a route may fail with. `{reason}` is a word or a sentence of ours, never a raw body. */
export const modelErrors = {
  AUTH: {
    message: '{provider} refused the credential ({reason}). Give a valid key in {credential}.',
    exit: 77,
  },
  QUOTA: {
    message: '{provider} says that the quota or the balance is used up ({reason}).',
    exit: 75,
  },
  RATE_LIMIT: {
    message: '{provider} limits the rate of requests ({reason}).',
    retryable: true,
    exit: 75,
  },
  SERVER: {
    message: '{provider} failed on its side ({reason}). Try again later.',
    retryable: true,
    exit: 75,
  },
  TIMEOUT: {
    message: '{provider} did not answer in time ({reason}).',
    retryable: true,
    exit: 75,
  },
  TRANSPORT: {
    message: '{provider} could not be reached at {url} ({reason}).',
    retryable: true,
    exit: 75,
  },
  STREAM_CLOSED: {
    message: '{provider} ended the answer before it was finished ({reason}).',
    retryable: true,
    exit: 75,
  },
  EMPTY_RESPONSE: {
    message: '{provider} gave an empty answer.',
    retryable: true,
    exit: 75,
  },
  MALFORMED_RESPONSE: {
    message: `{provider} sent what its protocol does not allow ({reason}). ${advice}`,
    exit: 75,
  },
  INVALID_REQUEST: {
    message: `{provider} refused the request ({reason}). ${advice}`,
    exit: 75,
  },
  CONTEXT_WINDOW_EXCEEDED: {
    message: 'The request is larger than the context window of {provider} ({reason}).',
    exit: 75,
  },
  CONTENT_FILTERED: {
    message: '{provider} refused the content ({reason}).',
    exit: 75,
  },
  UNKNOWN_MODEL: {
    message: '{provider} knows no model {model} ({reason}). See `cordage models list`.',
    exit: 78,
  },
  UNSUPPORTED_REASONING_EFFORT: {
    message: '{provider}/{model} takes no reasoning effort "{effort}"; it takes {known}.',
    exit: 78,
  },
  CANCELLED: {
    message: 'The request to {provider} was cancelled by somebody else than the harness.',
  },
  MODEL_NAME_INVALID: {
    message: 'A model is named <provider>/<model id>, without spaces; "{name}" is not.',
    exit: 78,
  },
  MODEL_PROVIDER_UNKNOWN: {
    message: 'There is no provider "{provider}". Known: {known}.',
    exit: 78,
  },
  MODEL_NONE: {
    message:
      'No model is chosen and no credential was found. Set one of {ways}, name a model with ' +
      '--model <provider>/<model id>, or try the recorded one: --model scripted/fix-a-bug.',
    exit: 78,
  },
} as const

export const failModel = defineErrors('model', modelErrors)
