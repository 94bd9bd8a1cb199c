import type { Composition, Row } from './composition.ts'
import { describe } from './explain.ts'
import type { ValueDescription } from './explain.ts'
import type { Origin } from './problem.ts'

/** A value that two compositions give differently; absent on the side that does not give it. */
export interface ValueDifference {
  path: string
  before?: ValueDescription
  after?: ValueDescription
}

/** A row that two compositions have differently. */
export interface RowDifference {
  id: string
  kind: 'added' | 'removed' | 'changed'
  /** The presets whose row it is; none for a row of the composition itself. */
  presets: string[]
  values: ValueDifference[]
  /** Who took a removed row out, where it was taken out and not just never inserted. */
  removed?: Origin
}

/** What becomes different from `before` to `after`, rows first, then those of presets. */
export function difference(before: Composition, after: Composition): RowDifference[] {
  const [old, fresh] = [rowsOf(before), rowsOf(after)]
  const found: { was: Row | undefined; is: Row | undefined; difference: RowDifference }[] = []
  for (const key of new Set([...old.keys(), ...fresh.keys()])) {
    const [was, is] = [old.get(key), fresh.get(key)]
    const values = valuesOf(was?.row, is?.row)
    if (values.length === 0) continue
    const { row, preset } = (is ?? was)!
    const presets = preset === undefined ? [] : [preset]
    // Presets that extend each other share rows: one change is told once.
    const same = found.find((other) => other.was === was?.row && other.is === is?.row)
    if (same !== undefined) same.difference.presets.push(...presets)
    else {
      const kind = is === undefined ? 'removed' : was === undefined ? 'added' : 'changed'
      const removed = is === undefined ? after.removed.get(row.id) : undefined
      const difference = { id: row.id, kind, presets, values, ...(removed && { removed }) } as const
      found.push({ was: was?.row, is: is?.row, difference: { ...difference } })
    }
  }
  return found.map(({ difference }) => difference)
}

type Placed = { row: Row; preset?: string }

function rowsOf({ rows, presets }: Composition): Map<string, Placed> {
  const placed = rows.map((row): [string, Placed] => [row.id, { row }])
  for (const { name, rows } of presets.values()) {
    for (const row of rows) placed.push([`${name}/${row.id}`, { row, preset: name }])
  }
  return new Map(placed)
}

function valuesOf(was: Row | undefined, is: Row | undefined): ValueDifference[] {
  const [old, fresh] = [valueMap(was), valueMap(is)]
  return [...new Set([...old.keys(), ...fresh.keys()])].flatMap((path): ValueDifference[] => {
    const [before, after] = [old.get(path), fresh.get(path)]
    if (before?.value === after?.value) return []
    return [{ path, ...(before && { before }), ...(after && { after }) }]
  })
}

function valueMap(row: Row | undefined): Map<string, ValueDescription> {
  // An empty configuration is no value of its own.
  const values = row ? describe(row).values.filter(({ value }) => value !== '{}') : []
  return new Map(values.map((value) => [value.path, value]))
}
