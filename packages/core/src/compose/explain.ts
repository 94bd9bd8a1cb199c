import type { Composition, Row } from './composition.ts'
import { valueText } from './dump.ts'
import { pathText } from './located.ts'
import type { Path } from './located.ts'
import { Reference } from './reference.ts'
import type { LayerKind } from './problem.ts'

/** One value of a row and the layer, file and line that set it. */
export interface ValueDescription {
  /** `name`, `disabled`, `optional`, `config`, or a path below `config`. */
  path: string
  /** As written in YAML; references are not resolved. */
  value: string
  kind: LayerKind
  file: string
  line: number
}

export interface RowDescription {
  id: string
  name: string
  from: string
  disabled: boolean
  optional: boolean
  /** The preset whose row this is; absent for a row of the composition itself. */
  preset?: string
  values: ValueDescription[]
}

/** The row in each place that has it, the composition first, then the presets that list it. */
export function describeRow(composition: Composition, id: string): RowDescription[] {
  const own = composition.rows.filter((row) => row.id === id).map((row) => describe(row))
  const inPresets = [...composition.presets.values()].flatMap(({ name, rows }) =>
    rows.filter((row) => row.id === id).map((row) => describe(row, name)),
  )
  return [...own, ...inPresets]
}

export function describe(row: Row, preset?: string): RowDescription {
  const { id, name, from, disabled, optional } = row
  const values: ValueDescription[] = []
  const add = (path: Path, value: unknown): void => {
    const key = pathText(path)
    const origin = row.origins.get(key)
    if (origin !== undefined) values.push({ path: key, value: valueText(value), ...origin })
  }
  add(['name'], name)
  add(['disabled'], disabled)
  add(['optional'], optional)
  leaves(row.written, ['config'], add)
  return { id, name, from, disabled, optional, ...(preset ? { preset } : {}), values }
}

function leaves(value: unknown, path: Path, add: (path: Path, value: unknown) => void): void {
  const inner = typeof value === 'object' && value !== null && !(value instanceof Reference)
  const members = !inner ? [] : Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  if (members.length === 0) add(path, value)
  for (const [key, member] of members) leaves(member, [...path, key], add)
}
