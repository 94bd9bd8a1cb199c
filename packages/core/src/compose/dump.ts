import { Document } from 'yaml'
import type { ScalarTag } from 'yaml'
import type { Composition, Row } from './composition.ts'
import { Reference } from './reference.ts'

/** The composed tree as one layer that composes to the same rows; references stay opaque. */
export function dump(composition: Composition): string {
  const operations: unknown[] = []
  if (composition.rows.length > 0) operations.push({ insert: composition.rows.map(rowOf) })
  for (const { name, rows } of composition.presets.values()) {
    operations.push({ preset: name, rows: rows.map(rowOf) })
  }
  const options = { version: '1.2', resolveKnownTags: false, customTags: tags } as const
  // Rows of several presets are the same objects, which are to be written out, not aliased.
  const document = new Document(operations, { ...options, aliasDuplicateObjects: false })
  return document.toString({ lineWidth: 0 })
}

/** A configuration value as a person would write it in YAML. */
export function valueText(value: unknown): string {
  if (value instanceof Reference) return `${value.tag} ${value.text}`
  return JSON.stringify(value)
}

function rowOf({ id, name, written, disabled, optional }: Row): Record<string, unknown> {
  return {
    id,
    name,
    ...(Object.keys(written).length > 0 ? { config: written } : {}),
    ...(disabled ? { disabled } : {}),
    ...(optional ? { optional } : {}),
  }
}

const tags: ScalarTag[] = ['!env', '!path'].map((tag) => ({
  tag,
  identify: (value) => value instanceof Reference && value.tag === tag,
  resolve: (text) => text,
  stringify: (item) => JSON.stringify((item.value as Reference).text),
}))
