/** A JSON schema of draft 2020-12, as data. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
