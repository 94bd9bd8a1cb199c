import { z } from 'zod'
import { isSchema, type JsonSchema } from './json-schema.ts'

/**
 * What a plugin's configuration may be, in the words of its zod schema. A plain Cordis plugin says
 * nothing that an editor could read: `undefined`.
 */
export function configSchemaOf(plugin: object): JsonSchema | undefined {
  const config = 'Config' in plugin ? plugin.Config : undefined
  if (!isZod(config)) return undefined
  try {
    const { $schema: _, ...schema } = z.toJSONSchema(config, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        // The bounds of a safe integer say nothing to a person.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
        // A reference stands for a text whose form nobody knows yet.
        delete jsonSchema.format
      },
    })
    return isSchema(schema) ? schema : undefined
  } catch {
    // A schema that cannot be told in JSON leaves its row without help, and the others with it.
    return undefined
  }
}

/** Also of another copy of zod: a plugin may bring its own. */
function isZod(value: unknown): value is z.ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value
}
