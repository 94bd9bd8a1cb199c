import type { LocatedMap } from './located.ts'
import type { Origin } from './problem.ts'

/** A value that an operation gives, with the place that gave it. */
export interface Field<T> {
  value: T
  origin: Origin
}

export interface RowInsert {
  type: 'insert'
  id: string
  origin: Origin
  name: Field<string>
  config: LocatedMap
  disabled: Field<boolean>
  optional: Field<boolean>
}

export interface RowPatch {
  type: 'patch'
  id: string
  origin: Origin
  remove: boolean
  config?: LocatedMap | undefined
  merge?: LocatedMap | undefined
  disabled?: Field<boolean> | undefined
  optional?: Field<boolean> | undefined
}

export type RowOperation = RowInsert | RowPatch

/** One entry of a layer. Without `preset` its rows are rows of the composition itself. */
export interface Operation {
  origin: Origin
  rows: RowOperation[]
  preset?: string
  extends?: Field<string> | undefined
  profiles?: string[] | undefined
}
