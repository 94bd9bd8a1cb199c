import { merge } from './located.ts'
import type { LocatedMap } from './located.ts'
import { didYouMean } from '../error/index.ts'
import type { Field, Operation, RowInsert, RowOperation, RowPatch } from './operation.ts'
import { problem } from './problem.ts'
import type { Note, Origin, Problem } from './problem.ts'

/** A row while operations are folded: every field still knows who set it. */
export interface Draft {
  id: string
  inserted: Origin
  name: Field<string>
  config: LocatedMap
  /** The versions that the parts of `config` were written for, where a layer says so. */
  versions: readonly Field<number>[]
  disabled: Field<boolean>
  optional: Field<boolean>
}

export interface PresetDraft {
  name: string
  origin: Origin
  extends?: Field<string> | undefined
  operations: RowOperation[]
}

export type Drafts = Map<string, Draft>

export interface FoldOptions {
  profile: string
  /** What other profiles know: naming it in a person's layer is not a mistake. */
  known: ReadonlySet<string>
  /** A layer could not be read, so that an unknown id may well be one of its rows. */
  incomplete: boolean
}

/** Applies operations in order; a later one may change what an earlier one inserted. */
export class Fold {
  readonly rows: Drafts = new Map()
  readonly presets = new Map<string, PresetDraft>()
  readonly problems: Problem[] = []
  readonly notes: Note[] = []
  readonly removed = new Map<string, Origin>()
  readonly #options: FoldOptions
  readonly #inserted = new Map<string, Origin>()
  readonly #declared: ReadonlySet<string | undefined>

  constructor(operations: readonly Operation[], options: FoldOptions) {
    this.#options = options
    this.#declared = new Set(operations.map(({ preset }) => preset))
    for (const { rows } of operations) {
      for (const row of rows) if (row.type === 'insert') this.#inserted.set(row.id, row.origin)
    }
    for (const operation of operations) this.#apply(operation)
  }

  /** The rows of a preset over those of its base; `base` is not changed. */
  foldPreset(preset: PresetDraft, base: Drafts): Drafts {
    const rows: Drafts = new Map(base)
    for (const row of preset.operations) {
      if (row.type === 'insert') this.#insert(rows, row)
      else if (!this.#patch(rows, row)) this.#unknown(row, preset.name)
    }
    return rows
  }

  #apply(operation: Operation): void {
    const { profiles, origin } = operation
    if (profiles !== undefined && !profiles.includes(this.#options.profile)) {
      const message = `Skipped: it is for ${profiles.join(', ')}, not ${this.#options.profile}.`
      this.notes.push({ file: origin.file, line: origin.line, message })
    } else if (operation.preset === undefined) {
      for (const row of operation.rows) this.#applyRow(row)
    } else this.#applyPreset(operation, operation.preset)
  }

  #applyRow(row: RowOperation): void {
    if (row.type === 'insert') return this.#insert(this.rows, row)
    // An id means the row wherever it was inserted, in a preset too.
    const presets = [...this.presets.values()].filter((preset) => inserts(preset, row.id))
    for (const preset of presets) preset.operations.push(row)
    if (!this.#patch(this.rows, row) && presets.length === 0) this.#unknown(row)
  }

  #applyPreset(operation: Operation, name: string): void {
    if (this.#foreignBase(operation.extends)) return
    const rows = operation.rows.filter((row) => row.type === 'insert' || !this.#foreign(row))
    const existing = this.presets.get(name)
    // A person's patch of another profile's preset leaves no empty preset in this one.
    const skipped = rows.length === 0 && operation.rows.length > 0
    if (existing === undefined && skipped && operation.extends === undefined) return
    const preset = existing ?? { name, origin: operation.origin, operations: [] }
    preset.operations.push(...rows)
    if (operation.extends !== undefined) preset.extends = operation.extends
    this.presets.set(name, preset)
  }

  #insert(rows: Drafts, row: RowInsert): void {
    const before = rows.get(row.id)
    if (before === undefined) {
      const { id, origin, name, config, configVersion, disabled, optional } = row
      const versions = configVersion === undefined ? [] : [configVersion]
      rows.set(id, { id, inserted: origin, name, config, versions, disabled, optional })
      return
    }
    const message = `The row "${row.id}" is inserted twice, first at ${place(before.inserted)}.`
    const hint = 'Change the existing row by its id, or remove it first.'
    this.problems.push(problem('ROW_DUPLICATE', row.origin, message, { row: row.id, hint }))
  }

  #patch(rows: Drafts, row: RowPatch): boolean {
    const draft = rows.get(row.id)
    if (draft === undefined) return false
    if (row.remove) {
      rows.delete(row.id)
      this.removed.set(row.id, row.origin)
      return true
    }
    const under = row.config ?? draft.config
    const older = row.config === undefined ? draft.versions : []
    rows.set(row.id, {
      ...draft,
      config: row.merge === undefined ? under : merge(under, row.merge),
      versions: row.configVersion === undefined ? older : [...older, row.configVersion],
      disabled: row.disabled ?? draft.disabled,
      optional: row.optional ?? draft.optional,
    })
    return true
  }

  #foreign({ id, origin }: RowPatch): boolean {
    return !this.#inserted.has(id) && this.#onlyElsewhere(id, 'row', origin)
  }

  #foreignBase(base: Field<string> | undefined): boolean {
    if (base === undefined || this.#declared.has(base.value)) return false
    return this.#onlyElsewhere(base.value, 'preset', base.origin)
  }

  // True, with a note, for what only another profile knows, in a person's layer.
  #onlyElsewhere(id: string, what: 'row' | 'preset', { kind, file, line }: Origin): boolean {
    if (kind !== 'installation' && kind !== 'home') return false
    if (!this.#options.known.has(id)) return false
    const message = `Skipped: the profile ${this.#options.profile} has no ${what} "${id}".`
    this.notes.push({ file, line, ...(what === 'row' ? { row: id } : {}), message })
    return true
  }

  #unknown(row: RowPatch, preset?: string): void {
    if (this.#options.incomplete || this.#foreign(row)) return
    const where = preset === undefined ? '' : ` in the preset "${preset}"`
    const message = `There is no row "${row.id}"${where} to change.`
    const hint = this.#unknownHint(row.id, preset)
    this.problems.push(problem('ROW_UNKNOWN', row.origin, message, { row: row.id, hint }))
  }

  #unknownHint(id: string, preset: string | undefined): string {
    const removed = this.removed.get(id)
    if (removed !== undefined) return `It was removed at ${place(removed)}.`
    const inserted = this.#inserted.get(id)
    if (inserted !== undefined && preset !== undefined) {
      return `The row is inserted at ${place(inserted)}, outside of this preset.`
    }
    if (inserted !== undefined) return `It is inserted later, at ${place(inserted)}.`
    const known = [...this.#inserted.keys(), ...this.#options.known]
    return didYouMean(id, known) ?? 'To add a row, use "insert: [...]" with its name.'
  }
}

function inserts(preset: PresetDraft, id: string): boolean {
  const last = preset.operations.findLast(
    (row) => row.id === id && (row.type === 'insert' || row.remove),
  )
  return last?.type === 'insert'
}

function place(origin: Origin): string {
  return `${origin.file}:${origin.line}`
}
