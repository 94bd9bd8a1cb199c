import { reasonOf } from './reason.ts'
import { containerOf } from './container.ts'
import type { Context } from './context.ts'

const kRow = Symbol('cordage.row')

/** `ctx` tagged as belonging to row `id`, inherited by everything mounted on it. */
export function tagRow(ctx: Context, id: string): Context {
  return containerOf(ctx).extend({ [kRow]: id })
}

/** The id of the row whose fiber contains `ctx`; `core` at the root. */
export function rowOf(ctx: Context): string {
  const tagged = (ctx as Context & { [kRow]?: string })[kRow]
  if (tagged !== undefined) return tagged
  const name = ctx.fiber.name
  return name === 'root' ? 'core' : name
}

/** A failure with the row that caused it; the original error is the `cause`. */
export class RowError extends Error {
  override readonly name = 'RowError'
  readonly row: string

  constructor(row: string, reason: string, cause?: unknown) {
    super(`${row}: ${reason}`, cause === undefined ? {} : { cause })
    this.row = row
  }
}

/**
 * An error that carries `row`. Errors that callers tell apart (a string `code`, an abort) keep
 * their identity and get a hidden `row` property; everything else is wrapped.
 */
export function blame(row: string, error: unknown): Error {
  try {
    return withRow(row, error)
  } catch {
    // A getter or proxy that throws: a row fails with it as with any other error.
    return new RowError(row, reasonOf(error))
  }
}

function withRow(row: string, error: unknown): Error {
  if (error instanceof RowError) return error
  if (!(error instanceof Error)) return new RowError(row, reasonOf(error), error)
  if (!isRecognised(error)) return new RowError(row, error.message, error)
  if (!('row' in error) && Object.isExtensible(error)) {
    Object.defineProperty(error, 'row', { value: row, configurable: true })
  }
  return error
}

function isRecognised(error: Error): boolean {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return true
  return 'code' in error && typeof error.code === 'string'
}
