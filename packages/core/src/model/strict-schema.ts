/**
 * Whether a JSON schema can be asked for strictly: each object in it names all its members as
 * required and takes no others. Servers refuse the request for any other.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema)
  if (typeof schema !== 'object' || schema === null) return true
  const { type, properties, required, additionalProperties, ...rest } = schema as Schema
  if (type === 'object' || properties !== undefined) {
    const names = Object.keys(properties ?? {})
    const closed = additionalProperties === false
    if (!closed || !names.every((name) => required?.includes(name))) return false
  }
  const inner = [...Object.values(properties ?? {}), ...Object.values(rest)]
  return inner.every(isStrictSchema)
}

interface Schema {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
}
