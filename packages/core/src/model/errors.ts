import {
  defineErrors,
  type FailOptions,
  type HarnessError,
  type TemplateValue,
} from '../error/index.ts'

const advice = 'Check the route in its row and try `cordage models test`.'

/** What a route may fail with. `{because}` is a word of ours, never a raw body. */
export const modelErrors = {
  AUTH: {
    message: '{model} refused the credential{because}. Give a valid key.',
    exit: 77,
  },
  QUOTA: {
    message: '{model} says that the quota or the balance is used up{because}.',
    exit: 75,
  },
  RATE_LIMIT: {
    message: '{model} limits the rate of requests{because}.',
    retryable: true,
    exit: 75,
  },
  SERVER: {
    message: '{model} failed on its side{because}. Try again later.',
    retryable: true,
    exit: 75,
  },
  TIMEOUT: {
    message: '{model} did not answer in time{because}.',
    retryable: true,
    exit: 75,
  },
  TRANSPORT: {
    message: '{model} could not be reached{because}.',
    retryable: true,
    exit: 75,
  },
  STREAM_CLOSED: {
    message: '{model} ended the answer before it was finished{because}.',
    retryable: true,
    exit: 75,
  },
  EMPTY_RESPONSE: {
    message: '{model} gave an empty answer.',
    retryable: true,
    exit: 75,
  },
  MALFORMED_RESPONSE: {
    message: `{model} sent what its protocol does not allow{because}. ${advice}`,
  },
  INVALID_REQUEST: {
    message: `{model} refused the request{because}. ${advice}`,
  },
  CONTEXT_WINDOW_EXCEEDED: {
    message: 'The request is larger than the context window of {model}{because}.',
  },
  CONTENT_FILTERED: {
    message: '{model} refused the content{because}.',
  },
  UNKNOWN_MODEL: {
    message: 'There is no model {model}{because}. See `cordage models list`.',
    exit: 78,
  },
  UNSUPPORTED_REASONING_EFFORT: {
    message: '{model} takes no reasoning effort "{effort}"; it takes {known}.',
    exit: 78,
  },
  CANCELLED: {
    message: 'The request to {model} was cancelled by somebody else than the harness.',
  },
  MODEL_NAME_INVALID: {
    message: 'A model is named <provider>/<model id>, without spaces; "{name}" is not.',
    exit: 78,
  },
  MODEL_PROVIDER_UNKNOWN: {
    message: 'There is no provider "{provider}". Known: {known}.',
    exit: 78,
  },
  MODEL_BASE_URL_INVALID: {
    message: 'The base URL in {name} {wrong}.',
    exit: 78,
  },
  MODEL_KEY_INVALID: {
    message: 'The key in {name} {wrong}.',
    exit: 78,
  },
  MODEL_WINDOW_TOO_SMALL: {
    message:
      '{model} has a window of {window} tokens, of which an answer may take {maxTokens}: nothing is ' +
      'left for a request. Give its entry a smaller maxTokens, or its true contextWindow.',
    exit: 78,
  },
  MODEL_NONE: {
    message:
      'No model is chosen and no credential was found. Set one of {ways}, name a model with ' +
      '--model <provider>/<model id>, or try the recorded one: --model scripted/fix-a-bug.',
    exit: 78,
  },
} as const

const fail = defineErrors('model', modelErrors)

/**
 * Makes the error of `code`. `model` is `<provider>/<model id>`, `reason` a short note in
 * parentheses (`HTTP 429`), the others fill the message of their code.
 */
export function modelError(
  code: keyof typeof modelErrors,
  values: { model?: string; reason?: string; [name: string]: TemplateValue },
  options?: FailOptions,
): HarnessError {
  const { model = 'the model', reason, ...others } = values
  const because = reason ? ` (${reason})` : ''
  const empty = {
    name: '',
    wrong: '',
    known: '',
    effort: '',
    provider: '',
    ways: '',
    window: '',
    maxTokens: '',
  }
  return fail(code, { ...empty, model, because, ...others }, options)
}
