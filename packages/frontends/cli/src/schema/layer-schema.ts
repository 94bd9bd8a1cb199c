import type { JsonSchema } from './json-schema.ts'
import { mergeSchemaOf } from './merge-schema.ts'

/** A row that a layer may change. */
export interface KnownRow {
  readonly id: string
  readonly description?: string
  /** Of its configuration; absent where nothing is known. */
  readonly config?: JsonSchema
}

const ID = '^[a-z][a-z0-9]*(?:[.-][a-z0-9]+)*$'

/** The schema of a layer's file over a tree of `rows` and `presets`. */
export function layerSchema(rows: readonly KnownRow[], presets: readonly string[]): JsonSchema {
  const known = rows.filter(({ config }) => config !== undefined)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A layer of Cordage: a list of operations on rows',
    description: 'In an editor add the tags `!env scalar` and `!path scalar`.',
    type: ['array', 'null'],
    items: {
      type: 'object',
      anyOf: [
        { required: ['insert'], $ref: '#/$defs/insert' },
        { required: ['preset'], $ref: '#/$defs/preset' },
        { required: ['id'], $ref: '#/$defs/change' },
      ],
    },
    $defs: {
      insert: object({
        insert: { description: 'New rows.', type: 'array', items: { $ref: '#/$defs/row' } },
        profiles,
      }),
      preset: object({
        preset: { description: 'A named list of rows for an agent’s own scope.', ...name },
        extends: { description: 'Starts from the rows of this preset.', ...suggested(presets) },
        rows: {
          description: 'New rows have a name, changes have none.',
          type: 'array',
          items: {
            type: 'object',
            required: ['id'],
            ...when(
              { required: ['name'] },
              { $ref: '#/$defs/row' },
              { $ref: '#/$defs/changeOfPreset' },
            ),
          },
        },
        profiles,
      }),
      row: { ...object({ ...rowFields, config }), required: ['id', 'name'] },
      change: changeOf(rows, { ...changeFields, profiles }),
      changeOfPreset: changeOf(rows, changeFields),
      ...Object.fromEntries(
        known.flatMap(({ id, config = {} }) => [
          [`config-${id}`, config],
          [`merge-${id}`, mergeSchemaOf(config)],
        ]),
      ),
    },
  }
}

const name = { type: 'string', pattern: ID }
const flag = (description: string) => ({ description, type: 'boolean' })
const config = { description: 'Its configuration.', type: 'object' }
const profiles = {
  description: 'Only in these profiles; in the layers of the installation and the home.',
  type: 'array',
  items: { type: 'string' },
}
const common = {
  configVersion: {
    description: 'The version of the plugin’s configuration that this was written for.',
    type: 'integer',
    minimum: 1,
  },
  disabled: flag('The row is not loaded.'),
  optional: flag('What is wrong with the row stops nobody: it is named and left out.'),
}
const rowFields = {
  id: { description: 'Lower-case words joined by "-".', ...name },
  name: { description: 'A package, or a file: ./… or an absolute path.', type: 'string' },
  ...common,
}
const changeFields = {
  config: { ...config, description: 'Replaces the WHOLE configuration of the row.' },
  merge: { type: 'object', description: 'Changes parts: mappings merge, null takes out.' },
  ...common,
  remove: flag('Takes the row out.'),
}

function object(properties: JsonSchema): JsonSchema {
  return { type: 'object', properties, additionalProperties: false }
}

/** Known words are offered, others are taken: the file itself may bring them. */
function suggested(words: readonly string[]): JsonSchema {
  return { anyOf: [{ enum: words }, name] }
}

/** A change of a row: which configuration it may have depends on the row. */
function changeOf(rows: readonly KnownRow[], fields: JsonSchema): JsonSchema {
  const ids = rows.map(({ id, description }) => {
    return { const: id, ...(description === undefined ? {} : { description }) }
  })
  const id = { description: 'The row that is changed.', anyOf: ids }
  const bound = rows.filter(({ config }) => config !== undefined)
  return {
    ...object({ id, ...fields }),
    required: ['id'],
    minProperties: 2,
    not: { required: ['config', 'merge'] },
    allOf: bound.map((row) =>
      when(
        { properties: { id: { const: row.id } }, required: ['id'] },
        {
          properties: {
            config: { $ref: `#/$defs/config-${row.id}` },
            merge: { $ref: `#/$defs/merge-${row.id}` },
          },
        },
      ),
    ),
  }
}

function when(test: JsonSchema, yes: JsonSchema, no?: JsonSchema): JsonSchema {
  // oxlint-disable-next-line unicorn/no-thenable
  return { if: test, then: yes, ...(no === undefined ? {} : { else: no }) }
}
