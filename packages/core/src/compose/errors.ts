import { defineErrors, isHarnessError } from '../error/index.ts'
import type { Problem } from './problem.ts'
import { problemText } from './problem.ts'

export const fail = defineErrors('compose', {
  COMPOSE_REJECTED: {
    message: 'The composition has {count} problems; nothing of it was kept. First: {first}',
    exit: 78,
  },
  COMPOSE_ROW_TIMEOUT: {
    message: 'The row "{row}" did not {what} within {timeoutMs} ms.',
    exit: 78,
  },
  COMPOSE_CLOSED: { message: 'The composition is closed; start a new one.' },
  COMPOSE_PRESET_UNKNOWN: {
    message: 'There is no preset "{preset}". Known: {known}.',
    exit: 78,
  },
})

/** The error for problems that stop a boot; all of them are in `details.problems`. */
export function rejected(problems: readonly Problem[]): Error {
  const first = problems[0] === undefined ? 'none' : problemText(problems[0])
  return fail('COMPOSE_REJECTED', { count: problems.length, first }, { details: { problems } })
}

/** The problems of a COMPOSE_REJECTED; none for any other error. */
export function problemsOf(error: unknown): readonly Problem[] {
  if (!isHarnessError(error, 'COMPOSE_REJECTED')) return []
  return error.details['problems'] as readonly Problem[]
}
