import { AssertionError, RowError } from '../kernel/index.ts'
import { isHarnessError } from './harness-error.ts'
import { findSpec } from './table.ts'
import { escapeControls } from './template.ts'

/** What may be shown and stored: never the text of a cause or of a foreign error. */
export function describe(error: unknown): { code: string; message: string } {
  try {
    return describeReadable(error)
  } catch {
    // A getter or proxy that throws.
    return { code: 'INTERNAL', message: 'Unexpected failure that cannot be read.' }
  }
}

function describeReadable(error: unknown): { code: string; message: string } {
  if (isHarnessError(error)) return { code: error.code, message: error.message }
  if (error instanceof AssertionError) {
    return { code: 'INTERNAL', message: escapeControls(error.message) }
  }
  if (error instanceof RowError) {
    const inner = describe(error.cause)
    return { code: inner.code, message: `${error.row}: ${inner.message}` }
  }
  if (isAbort(error)) return { code: 'ABORTED', message: 'The operation was cancelled.' }
  const name = error instanceof Error ? error.name : typeof error
  return { code: 'INTERNAL', message: `Unexpected ${escapeControls(name)}; the log has details.` }
}

/** The exit code of a process that ends with `error`; 0 for undefined. */
export function toExitCode(error: unknown): number {
  if (error === undefined) return 0
  if (error instanceof RowError) return toExitCode(error.cause ?? null)
  if (!isHarnessError(error)) return 1
  return findSpec(error.code)?.exit ?? (error.retryable ? 75 : 1)
}

/** The exit code of a failure of which only the code is left, as in a log. */
export function exitOfCode(code: string): number {
  const spec = findSpec(code)
  return spec?.exit ?? (spec?.retryable ? 75 : 1)
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
