import type { AnyPlugin } from './activate.ts'
import { reasonOf } from './reason.ts'
import { RowError } from './row.ts'

export type CheckedConfig = { readonly value: unknown } | { readonly error: Error }

type Issue = { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined }

/** Never throws or rejects; a promise only where the schema is asynchronous. */
export function checkConfig(
  row: string,
  plugin: AnyPlugin,
  config: unknown,
): CheckedConfig | Promise<CheckedConfig> {
  const schema = plugin.Config
  const input = config ?? {}
  if (!schema) return { value: input }
  const failed = (reason: unknown): CheckedConfig => {
    return { error: new RowError(row, `the config cannot be checked: ${reasonOf(reason)}`, reason) }
  }
  const judge = (result: { value?: unknown; issues?: readonly Issue[] | undefined }) => {
    return result.issues ? { error: invalid(row, result.issues) } : { value: result.value }
  }
  try {
    const result = schema['~standard'].validate(input)
    return result instanceof Promise ? result.then(judge).catch(failed) : judge(result)
  } catch (error) {
    return failed(error)
  }
}

function invalid(row: string, issues: readonly Issue[]): RowError {
  const lines = issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part))
    return `${['config', ...keys].join('.')}: ${message}`
  })
  return new RowError(row, lines.join('; '))
}
