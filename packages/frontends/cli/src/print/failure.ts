import { problemsOf, problemText } from '@cordage/core/compose'
import { describe } from '@cordage/core/error'
import { describeFailure } from '@cordage/core/kernel'
import { createLogFile } from '../boot/log-file.ts'
import { createRedactor } from '../boot/secrets.ts'

export interface FailureOptions {
  readonly debug: boolean
  /** Where the log is, to point at for what is not said here. */
  readonly logFile: string
}

/** The one text that a person sees of a failure: what, where, why and what to do. */
export function failureText(error: unknown, { debug, logFile }: FailureOptions): string {
  const problems = problemsOf(error)
  const lines =
    problems.length > 0 ? problemLines(problems.map(problemText)) : [oneFailure(error, logFile)]
  if (debug) lines.push(stackOf(error))
  return `${lines.join('\n')}\n`
}

/** A failure that nobody expected goes to the log whole, for whoever has to find the mistake. */
export function logFailure(
  error: unknown,
  logFile: string,
  env: Readonly<Record<string, string | undefined>>,
): void {
  if (describe(error).code !== 'INTERNAL') return
  const redact = createRedactor(env, () => undefined)
  const { sink } = createLogFile(logFile, redact)
  sink({ time: Date.now(), level: 'error', name: 'cordage', text: stackOf(error) })
}

function problemLines(problems: readonly string[]): string[] {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return [
    `cordage: the configuration has ${count}; nothing was started.`,
    ...problems.map((text) => `  ${text}`),
    'Check a change with `cordage config check`. --safe starts without your own layers, --last-good',
    'with those of the last start that succeeded.',
  ]
}

function oneFailure(error: unknown, logFile: string): string {
  const { code, message } = describe(error)
  if (code === 'USAGE') return `cordage: ${message}`
  const more = code !== 'INTERNAL' ? '' : ` Details are in ${logFile}; --debug shows them here.`
  return `cordage: ${message} [${code}]${more}`
}

function stackOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return `${stack}\n${describeFailure(error)}`
}
