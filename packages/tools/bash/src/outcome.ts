import type { ProcessExit } from '@cordage/core/environment'
import { exitText } from '@cordage/core/job'

/** `tail` and `omittedChars` are there when the output was longer than what is kept of it. */
export interface BashValue {
  readonly exit: ProcessExit
  readonly output: string
  readonly tail?: string
  readonly omittedChars?: number
  /** The output as it was written; `complete` is false when it went over the limit. */
  readonly blob?: { readonly hash: string; readonly bytes: number; readonly complete: boolean }
}

/** How it ended comes first, where nothing that the command printed can come before it. */
export function renderOutcome({ exit, output, tail, omittedChars }: BashValue): string {
  const ending = exitText(exit)
  if (tail === undefined) return output === '' ? `${ending}, no output` : `${ending}\n${output}`
  const cut = `output too long: ${omittedChars} characters left out between its start and end`
  return `${ending}; ${cut}\n${output}\n[…]\n${tail}`
}
