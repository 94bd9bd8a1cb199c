import { defineErrors } from '../error/index.ts'

/** Why a call has no ordinary result. A tool adds its own codes. */
export const toolError = defineErrors('core-tool', {
  UNKNOWN_TOOL: { message: 'There is no tool {name}. {hint}' },
  INVALID_ARGS: { message: 'The arguments of {tool} are not valid: {problems}' },
  INVALID_TOOL_OUTPUT: {
    message: '{tool} (row {row}) ran, but did not return JSON: {reason}. What it did stays done.',
  },
  TOOL_DENIED: { message: '{tool} was not allowed: {reason}.', exit: 77 },
  TOOL_TIMEOUT: { message: '{tool} was stopped at its time limit of {timeoutMs} ms.', exit: 124 },
  TOOL_FAILED: { message: '{tool} (row {row}) failed: {reason}' },
  ABORTED: { message: '{tool} was stopped because the turn was cancelled.' },
  ABORTED_BEFORE_DISPATCH: { message: '{tool} did not run: the turn was cancelled before it.' },
  TOOL_NOT_STARTED: {
    message: '{tool} was not started: the turn ended before it. It has done nothing.',
  },
  TOOL_OUTCOME_UNKNOWN: {
    message:
      '{tool} was told to stop and did not within {graceMs} ms. It may have done all, some or ' +
      'nothing of its work: check before you do it again.',
  },
})
