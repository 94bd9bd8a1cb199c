import type { TurnOutcome } from '@cordage/core/agent'
import { exitOfCode } from '@cordage/core/error'

const SIGNAL_EXITS: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 }

/** The exit code of a turn; never 0 when it was cut short. */
export function exitOf(outcome: TurnOutcome, signal: AbortSignal): number {
  if (signal.aborted) return SIGNAL_EXITS[String(signal.reason)] ?? 130
  switch (outcome.reason) {
    case 'completed':
      return 0
    case 'budget':
    case 'max-tokens':
      return 124
    case 'error':
      return outcome.error ? exitOfCode(outcome.error.code) : 1
    default:
      return 1
  }
}
