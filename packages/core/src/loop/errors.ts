import { defineErrors, describe } from '../error/index.ts'
import { RowError } from '../kernel/index.ts'
import type { Failure } from '../session/index.ts'

export const loopError = defineErrors('core-loop', {
  HOOK_FAILED: {
    message: '{row} failed in a hook: {reason} Disable the row or mend it, then send again.',
  },
  HOOK_ANSWER_INVALID: {
    message:
      'A hook of {hook} gave what is no answer of that hook. Disable the row that was added last ' +
      'or mend it, then send again.',
  },
  NOTHING_SETTLED: {
    message: '{what} did not stop within {graceMs} ms of the cancellation and was left behind.',
  },
  INPUT_REJECTED: {
    message: 'A hook held the input back: {reason}. Change it or release it.',
  },
  ANSWER_EMPTY: {
    message:
      '{provider}/{model} gave no answer, neither after retries nor when asked again. ' +
      'Try another model, or `cordage models test {provider}/{model}`.',
    exit: 75,
  },
  ANSWER_CUT: {
    message:
      'The answer reached the output limit of {maxTokens} tokens {times} times in a row. ' +
      'Ask for less at once, or raise the limit of the model.',
    exit: 124,
  },
})

/** A failure as it may be told and kept: that of a hook names its row. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof RowError)) return describe(error)
  const values = { row: error.row, reason: describe(error.cause).message }
  return describe(loopError('HOOK_FAILED', values))
}
