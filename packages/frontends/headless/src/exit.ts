import type { TurnOutcome } from '@cordage/core/agent'
import { exitOfCode } from '@cordage/core/error'

/** The exit code of a turn; never 0 when it was cut short. Who sent a signal knows its number. */
export function exitOf({ reason, error }: TurnOutcome): number {
  switch (reason) {
    case 'completed':
      return 0
    case 'aborted':
      return 130
    case 'budget':
    case 'max-tokens':
      return 124
    case 'error':
      return error ? exitOfCode(error.code) : 1
    default:
      return 1
  }
}
