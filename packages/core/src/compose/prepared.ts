import type { AnyPlugin } from '../kernel/index.ts'
import type { Composition, Row } from './composition.ts'
import type { Problem } from './problem.ts'

/** A row's module as it was imported. */
export interface Loaded {
  plugin: unknown
  /** The range of `cordage.api` in the plugin's package.json; none for a plain Cordis plugin. */
  api?: string | undefined
  version?: string | undefined
  file: string
}

/** Imports plugins. A rejection with the code ERR_MODULE_NOT_FOUND says that there is none. */
export interface Loader {
  load(name: string, from: string): Promise<Loaded>
  /** The range of `cordage.api`, without importing: what does not fit may not even load. */
  apiOf?(name: string, from: string): string | undefined
}

/** A row whose module and configuration are sound. */
export interface ReadyRow {
  state: 'ready'
  row: Row
  plugin: AnyPlugin
  file: string
  version?: string | undefined
}

/** An optional row that will not be mounted, and why. */
export interface RefusedRow {
  state: 'skipped' | 'quarantined'
  row: Row
  reason: string
  /** Where its module could be loaded, to say what it would have provided. */
  plugin?: AnyPlugin | undefined
}

export type PreparedRow = ReadyRow | RefusedRow

/** A composition with its modules. With problems it is not to be booted. */
export interface Prepared {
  composition: Composition
  /** The enabled rows in order. */
  rows: PreparedRow[]
  /** The enabled rows of each preset. */
  presets: Map<string, PreparedRow[]>
  problems: Problem[]
}
