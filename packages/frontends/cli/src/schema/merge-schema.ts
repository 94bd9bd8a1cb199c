import { isSchema, type JsonSchema } from './json-schema.ts'

/**
 * What may be merged into a configuration of `schema`: any part of it, at any depth of mappings,
 * and `null` where a key is to be taken out. Lists replace, so that they stay whole.
 */
export function mergeSchemaOf(schema: JsonSchema): JsonSchema {
  const { required: _, default: __, ...rest } = schema
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
    const list = rest[keyword]
    return Array.isArray(list) ? [[keyword, list.map(partOf)] as const] : []
  })
  return {
    ...rest,
    ...Object.fromEntries(branches),
    ...(isSchema(rest['properties']) ? { properties: removable(rest['properties']) } : {}),
    ...(isSchema(rest['additionalProperties'])
      ? { additionalProperties: orNull(rest['additionalProperties']) }
      : {}),
  }
}

function partOf(schema: unknown): unknown {
  return isSchema(schema) ? mergeSchemaOf(schema) : schema
}

function removable(properties: JsonSchema): JsonSchema {
  const parts = Object.entries(properties).map(([key, member]) => [key, orNull(member)])
  return Object.fromEntries(parts) as JsonSchema
}

function orNull(schema: unknown): unknown {
  if (!isSchema(schema)) return schema
  const { description, ...rest } = mergeSchemaOf(schema)
  const about = description === undefined ? {} : { description }
  return { ...about, anyOf: [rest, { type: 'null', description: 'Takes the key out.' }] }
}
