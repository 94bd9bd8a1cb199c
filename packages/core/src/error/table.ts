import { assert } from '../kernel/index.ts'
import { HarnessError } from './harness-error.ts'
import { printValue, type TemplateValue } from './template.ts'

export interface ErrorSpec {
  /** What happened, with which `{value}`, and what to do next. */
  readonly message: string
  readonly retryable?: boolean
  /** The exit code of a process that ends because of it; 75 if retryable, otherwise 1. */
  readonly exit?: number
}

export type ErrorTable = Readonly<Record<string, ErrorSpec>>

type Names<S extends string> = S extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never

type Values<S extends string> = Record<Names<S>, TemplateValue> & Record<string, unknown>

export interface FailOptions {
  readonly cause?: unknown
  /** Added to the values in `details`, without appearing in the message. */
  readonly details?: Record<string, unknown>
  readonly retryable?: boolean
}

type FailArguments<S extends string> = [Names<S>] extends [never]
  ? [values?: Record<string, unknown>, options?: FailOptions]
  : [values: Values<S>, options?: FailOptions]

/** Makes (does not throw) the error of `code`. */
export type Fail<T extends ErrorTable> = <C extends keyof T & string>(
  code: C,
  ...args: FailArguments<T[C]['message']>
) => HarnessError

const tables = new Map<string, ErrorTable>()

/** Declares the codes of one owning package; a code belongs to one owner only. */
export function defineErrors<const T extends ErrorTable>(owner: string, table: T): Fail<T> {
  for (const [other, codes] of tables) {
    const twice = other === owner ? undefined : Object.keys(table).find((code) => code in codes)
    assert(twice === undefined, `error code ${twice} of ${owner} already belongs to ${other}`)
  }
  tables.set(owner, table)
  return (code, ...args) => {
    const [values = {}, options = {}] = args as [Record<string, unknown>?, FailOptions?]
    const spec = table[code]
    assert(spec, `${owner} declares no error code ${code}`)
    return new HarnessError({
      code,
      message: fill(spec.message, values),
      retryable: options.retryable ?? spec.retryable ?? false,
      details: { ...values, ...options.details },
      ...(options.cause === undefined ? {} : { cause: options.cause }),
    })
  }
}

/** All declared tables by owner, for documentation and checks. */
export function errorTables(): ReadonlyMap<string, ErrorTable> {
  return tables
}

export function findSpec(code: string): ErrorSpec | undefined {
  for (const table of tables.values()) if (Object.hasOwn(table, code)) return table[code]
  return undefined
}

function fill(template: string, values: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (hole, name: string) => {
    return Object.hasOwn(values, name) ? printValue(values[name]) : hole
  })
}
