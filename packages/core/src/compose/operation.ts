import { didYouMean } from '../error/index.ts'
import type { Layer } from './layer.ts'
import { kindOf } from './located.ts'
import type { Located, LocatedMap } from './located.ts'
import { problem } from './problem.ts'
import type { Origin, Problem, ProblemCode } from './problem.ts'

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
  configVersion?: Field<number> | undefined
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
  /** The version that `config` or `merge` was written for. */
  configVersion?: Field<number> | undefined
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

const ID = /^[a-z][a-z0-9]*(?:[.-][a-z0-9]+)*$/
const INSERT_KEYS = ['insert', 'profiles']
const PRESET_KEYS = ['preset', 'extends', 'rows', 'profiles']
const PATCH_KEYS = ['id', 'config', 'merge', 'configVersion', 'disabled', 'optional', 'remove']
const NO_CHANGE = ['id', 'profiles', 'configVersion']
const ROW_KEYS = ['id', 'name', 'config', 'configVersion', 'disabled', 'optional']

/** Reads the entries of a layer; what can be read is returned even where something is wrong. */
export function readOperations(layer: Layer): { operations: Operation[]; problems: Problem[] } {
  const reader = new OperationReader()
  const operations = layer.entries.flatMap((entry) => reader.read(entry) ?? [])
  return { operations, problems: reader.problems }
}

class OperationReader {
  readonly problems: Problem[] = []

  read(entry: Located): Operation | undefined {
    if (entry.type !== 'map') {
      const message = `An operation is a mapping, but this is ${kindOf(entry)}.`
      return this.#fail('OPERATION_INVALID', entry.origin, message, WHAT_OPERATIONS_ARE)
    }
    const { origin } = entry
    const profiles = this.#profiles(entry)
    if (entry.entries.has('insert')) {
      this.#checkKeys(entry, INSERT_KEYS)
      return { origin, profiles, rows: this.#rows(entry, 'insert', (row) => this.#insert(row)) }
    }
    if (entry.entries.has('preset')) return this.#preset(entry, profiles)
    if (entry.entries.has('id')) {
      const patch = this.#patch(entry, [...PATCH_KEYS, 'profiles'])
      return patch && { origin, profiles, rows: [patch] }
    }
    this.#checkKeys(entry, [...new Set([...INSERT_KEYS, ...PRESET_KEYS, ...PATCH_KEYS])])
    const message = 'The operation has none of "insert", "id" and "preset".'
    return this.#fail('OPERATION_INVALID', origin, message, WHAT_OPERATIONS_ARE)
  }

  #preset(entry: LocatedMap, profiles: string[] | undefined): Operation | undefined {
    this.#checkKeys(entry, PRESET_KEYS)
    const name = this.#id(entry, 'preset')
    const rows = this.#rows(entry, 'rows', (row) =>
      row.entries.has('name') ? this.#insert(row) : this.#patch(row, PATCH_KEYS),
    )
    if (name === undefined) return undefined
    const base = entry.entries.has('extends') ? this.#id(entry, 'extends') : undefined
    return {
      origin: entry.origin,
      profiles,
      preset: name,
      extends:
        base === undefined ? undefined : { value: base, origin: this.#place(entry, 'extends') },
      rows,
    }
  }

  #insert(row: LocatedMap): RowInsert | undefined {
    const id = this.#id(row, 'id')
    this.#checkKeys(row, ROW_KEYS, id)
    const { origin } = row
    const name = this.#name(row, id)
    const config = this.#config(row, 'config', id) ?? { type: 'map', entries: new Map(), origin }
    const disabled = this.#flag(row, 'disabled', id) ?? { value: false, origin }
    const optional = this.#optional(row, id) ?? { value: origin.kind === 'plugin', origin }
    const configVersion = this.#version(row, id)
    if (id === undefined) return undefined
    return { type: 'insert', id, origin, name, config, configVersion, disabled, optional }
  }

  #patch(row: LocatedMap, keys: readonly string[]): RowPatch | undefined {
    const id = this.#id(row, 'id')
    this.#checkKeys(row, keys, id)
    const { origin, entries } = row
    const config = this.#config(row, 'config', id)
    const merge = this.#config(row, 'merge', id)
    const disabled = this.#flag(row, 'disabled', id)
    const optional = this.#optional(row, id)
    const configVersion = this.#version(row, id)
    const remove = this.#flag(row, 'remove', id)?.value ?? false
    const given = [...entries.keys()].filter((key) => !NO_CHANGE.includes(key))
    if (entries.has('config') && entries.has('merge')) {
      const hint = '"config" replaces the whole configuration, "merge" changes parts: keep one.'
      this.#fail('OPERATION_INVALID', origin, `${of(id)}has both "config" and "merge".`, hint, id)
    }
    if (given.length === 0) {
      const hint = 'Give config, merge, disabled, optional or remove.'
      this.#fail(
        'OPERATION_INVALID',
        origin,
        `${of(id)}is named, but nothing is changed.`,
        hint,
        id,
      )
    }
    if (remove && given.length > 1) {
      const message = `${of(id)}is removed and changed in one operation.`
      this.#fail('OPERATION_INVALID', origin, message, 'Keep one of the two.', id)
    }
    if (id === undefined) return undefined
    return { type: 'patch', id, origin, config, merge, configVersion, disabled, optional, remove }
  }

  #rows<T>(entry: LocatedMap, key: string, read: (row: LocatedMap) => T | undefined): T[] {
    const list = entry.entries.get(key)
    if (list === undefined) return []
    if (list.type !== 'list') {
      const message = `"${key}" is a list of rows, but this is ${kindOf(list)}.`
      this.#fail('OPERATION_INVALID', list.origin, message, 'Write "- id: ..." for each row.')
      return []
    }
    return list.items.flatMap((row) => {
      if (row.type === 'map') return read(row) ?? []
      this.#fail('OPERATION_INVALID', row.origin, `A row is a mapping, not ${kindOf(row)}.`)
      return []
    })
  }

  #profiles(entry: LocatedMap): string[] | undefined {
    const list = entry.entries.get('profiles')
    if (list === undefined) return undefined
    const { origin } = list
    if (origin.kind !== 'installation' && origin.kind !== 'home') {
      const message = `"profiles" has no meaning in a layer of kind ${origin.kind}.`
      const hint = "It belongs in the installation's and in the home layer."
      return this.#fail('OPERATION_INVALID', origin, message, hint)
    }
    const names = list.type === 'list' ? list.items.map((item) => textOf(item)) : []
    const found = names.filter((name) => name !== undefined)
    if (found.length > 0 && found.length === names.length) return found
    const message = '"profiles" is a list of profile names with at least one.'
    return this.#fail('OPERATION_INVALID', origin, message, 'Write "profiles: [headless]".')
  }

  #id(map: LocatedMap, key: string): string | undefined {
    const node = map.entries.get(key)
    const text = node && textOf(node)
    if (text !== undefined && ID.test(text)) return text
    const got = node === undefined ? `The row has no "${key}"` : `"${key}" is ${kindOf(node)}`
    const hint = 'Ids and names of presets are lower-case words joined by "-".'
    return this.#fail('ROW_INVALID', node?.origin ?? map.origin, `${got}.`, hint)
  }

  #name(row: LocatedMap, id: string | undefined): Field<string> {
    const node = row.entries.get('name')
    const value = node && textOf(node)
    if (node !== undefined && value !== undefined && value !== '')
      return { value, origin: node.origin }
    const got = node === undefined ? 'no "name"' : `${kindOf(node)} as its "name"`
    const hint = 'Give the package or the file of the plugin.'
    this.#fail('ROW_INVALID', node?.origin ?? row.origin, `${of(id)}has ${got}.`, hint, id)
    return { value: '', origin: row.origin }
  }

  #config(row: LocatedMap, key: string, id: string | undefined): LocatedMap | undefined {
    const node = row.entries.get(key)
    if (node === undefined || node.type === 'map') return node
    const message = `${of(id)}has ${kindOf(node)} as its "${key}", which is a mapping.`
    return this.#fail('ROW_INVALID', node.origin, message, `Write "${key}: {}" for none.`, id)
  }

  #flag(row: LocatedMap, key: string, id: string | undefined): Field<boolean> | undefined {
    const node = row.entries.get(key)
    if (node === undefined) return undefined
    if (node.type === 'scalar' && typeof node.value === 'boolean') {
      return { value: node.value, origin: node.origin }
    }
    const message = `${of(id)}has ${kindOf(node)} as its "${key}".`
    return this.#fail('ROW_INVALID', node.origin, message, 'Write true or false.', id)
  }

  #optional(row: LocatedMap, id: string | undefined): Field<boolean> | undefined {
    const flag = this.#flag(row, 'optional', id)
    if (flag?.value !== false || flag.origin.kind !== 'plugin') return flag
    // A failing row of somebody else's takes no other down, unless a person says that it may.
    const hint = 'Leave "optional" out; a layer of yours may set it.'
    const message = `${of(id)}is required, which a plugin may not ask for.`
    return this.#fail('OPERATION_INVALID', flag.origin, message, hint, id)
  }

  #version(row: LocatedMap, id: string | undefined): Field<number> | undefined {
    const node = row.entries.get('configVersion')
    if (node === undefined) return undefined
    const value = node.type === 'scalar' ? Number(node.value) : NaN
    if (Number.isInteger(value) && value > 0) return { value, origin: node.origin }
    const message = `${of(id)}has ${kindOf(node)} as its "configVersion".`
    return this.#fail('ROW_INVALID', node.origin, message, 'Write a whole number from 1 on.', id)
  }

  #checkKeys(map: LocatedMap, known: readonly string[], row?: string): void {
    for (const [key, node] of map.entries) {
      if (known.includes(key)) continue
      const hint = didYouMean(key, known) ?? `Known here: ${known.join(', ')}.`
      this.#fail('KEY_UNKNOWN', node.origin, `${of(row)}has an unknown key "${key}".`, hint, row)
    }
  }

  #place(map: LocatedMap, key: string): Origin {
    return map.entries.get(key)?.origin ?? map.origin
  }

  #fail(code: ProblemCode, at: Origin, message: string, hint?: string, row?: string): undefined {
    this.problems.push(problem(code, at, message, { row, hint }))
    return undefined
  }
}

const WHAT_OPERATIONS_ARE =
  'Operations are "insert: [rows]", "id: ..." with what to change, and "preset: ..." with rows.'

function of(id: string | undefined): string {
  return id === undefined ? 'The entry ' : `The row "${id}" `
}

function textOf(node: Located): string | undefined {
  return node.type === 'scalar' && typeof node.value === 'string' ? node.value : undefined
}
