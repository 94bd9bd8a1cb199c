import { problemsOf, problemText } from '@cordage/core/compose'
import { describe } from '@cordage/core/error'
import { describeFailure } from '@cordage/core/kernel'
import { createLogFile } from '../boot/log-file.ts'
import { systemReason } from '../boot/make-directory.ts'
import { createRedactor } from '../boot/secrets.ts'
import { foreignFrame, foreignRows, sessionsUnderway } from '../boot/underway.ts'
import { cliError } from '../commands/errors.ts'
import { harmless } from './table.ts'

export interface FailureOptions {
  readonly debug: boolean
  /** Where the log is, to point at for what is not said here. */
  readonly logFile: string
  /** It came from no command, but from code that went on by itself. */
  readonly late?: boolean
  /** The process ends with it: `false` for a promise that nobody waited for. */
  readonly ends?: boolean
}

/** The one text that a person sees of a failure: what, where, why and what to do. */
export function failureText(error: unknown, options: FailureOptions): string {
  const { debug, logFile, late = false, ends = true } = options
  const problems = problemsOf(error)
  const lines =
    problems.length > 0 ? problemLines(problems.map(problemText)) : [oneFailure(error, logFile)]
  if (late) lines.push(...lateLines(error), ...(ends ? goOnLines() : ['  what runs goes on']))
  if (debug) lines.push(stackOf(error))
  return harmless(`${lines.join('\n')}\n`)
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

/** Nobody called that code, so that only its stack tells whose it is. */
function lateLines(error: unknown): string[] {
  const from = foreignFrame(error instanceof Error ? (error.stack ?? '') : '')
  const rows = isWithoutStack(error) ? foreignRows() : []
  return [
    ...(from === undefined ? [] : [`  thrown, with nobody to catch it, at ${from}`]),
    ...(rows.length === 0
      ? []
      : [`  it does not tell where; not ours: the plugins of ${rows.join(', ')}`]),
  ]
}

function goOnLines(): string[] {
  return sessionsUnderway().map((id) => `  go on with: cordage resume ${id}`)
}

/** What is no error was thrown; Node wraps the reason of a rejection. */
function isWithoutStack(error: unknown): boolean {
  return !(error instanceof Error) || ('code' in error && error.code === 'ERR_UNHANDLED_REJECTION')
}

function stackOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return `${stack}\n${describeFailure(error)}`
}

/** Of an answer that did not get out. */
export function outputFailureText(failure: unknown): string {
  const { message, code } = cliError('OUTPUT_FAILED', { reason: systemReason(failure) })
  return `cordage: ${message} [${code}]\n`
}
