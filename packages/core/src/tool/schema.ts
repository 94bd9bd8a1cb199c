import { z } from 'zod'
import { assert } from '../kernel/index.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

const cache = new WeakMap<z.ZodType, JsonSchema>()

/** The JSON schema of what a model may write, without what only costs tokens. */
export function schemaOf(parameters: z.ZodType): JsonSchema {
  const known = cache.get(parameters)
  if (known) return known
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  assert(schema.type === 'object', 'the parameters of a tool must be a zod object')
  cache.set(parameters, schema)
  return schema
}

/** The names of the parameters, as the model is told of them. */
export function fieldsOf(parameters: z.ZodType): string[] {
  return Object.keys(schemaOf(parameters).properties ?? {})
}
