import { inspect } from 'node:util'
import { containerOf } from './container.ts'
import type { Context } from './context.ts'

/** Of an error, with itself. */
const MAX_CAUSES = 8
/** A hostile getter or proxy. */
const UNPRINTABLE = '[unprintable]'

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

/** `time` in milliseconds since the epoch, `name` the row, `text` one formatted message. */
export interface LogRecord {
  readonly time: number
  readonly level: LogLevel
  readonly name: string
  readonly text: string
}

/** Takes records; what it throws is dropped. */
export type LogSink = (record: LogRecord) => void

const MAX_TEXT = 10_240

/** Logs `message` with `key=value` fields under the name of the plugin of `ctx`; never throws. */
export function log(
  ctx: Context,
  level: LogLevel,
  message: string,
  fields: Record<string, unknown> = {},
): void {
  const tail = Object.entries(fields).map(([key, value]) => ` ${key}=${print(value)}`)
  try {
    containerOf(ctx).logger[level]('%s', message + tail.join(''))
  } catch {
    // Somebody else's exporter threw: a log line may be lost, the caller may not.
  }
}

/** printf-style: `%s %d %i %f %o %O %j %c %%`, then the remaining arguments; never throws. */
export function format(args: readonly unknown[]): string {
  const rest = [...args]
  let text = typeof rest[0] === 'string' ? String(rest.shift()) : ''
  text = text.replace(/%([sdifoOjc%])/g, (match, kind: string) => {
    if (kind === '%') return '%'
    if (rest.length === 0) return match
    return convert(kind, rest.shift())
  })
  for (const value of rest) text += (text && ' ') + print(value)
  return printable(text).slice(0, MAX_TEXT)
}

/** Name and message of an error and of its causes, without stacks or attached properties. */
export function describeFailure(error: unknown): string {
  const told: string[] = []
  try {
    // An error may be its own cause.
    for (let at = error; told.length < MAX_CAUSES && at !== undefined;) {
      told.push(at instanceof Error ? `${at.name}: ${at.message}` : print(at))
      at = at instanceof Error ? at.cause : undefined
    }
  } catch {
    told.push(UNPRINTABLE)
  }
  return told.join('; caused by ') || 'undefined'
}

function convert(kind: string, value: unknown): string {
  if (kind === 'c') return ''
  if (kind === 's' || kind === 'o' || kind === 'O' || kind === 'j') return print(value)
  if (typeof value === 'bigint') return String(value)
  try {
    const number = Number(value)
    return String(kind === 'f' ? number : Math.trunc(number))
  } catch {
    // Symbols and objects without a primitive value.
    return 'NaN'
  }
}

function print(value: unknown): string {
  try {
    if (typeof value === 'string') return value
    // Not inspect: it would print attached properties such as response headers.
    if (value instanceof Error) return value.stack ?? `${value.name}: ${value.message}`
    return inspect(value, { depth: 4, breakLength: Infinity, maxStringLength: 1000 })
  } catch {
    return UNPRINTABLE
  }
}

function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (char) => {
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}
