import type { Composition, Row } from '@cordage/core/compose'
import { canonical, type ComposedRow } from '@cordage/core/session'
import { composedRows } from '../boot/note-composition.ts'

/** A row, by its place: `tool-read` of the preset `standard` is `standard/tool-read`. */
export type RowKey = string

export function keyOf({ id, preset }: Pick<ComposedRow, 'id' | 'preset'>): RowKey {
  return preset === undefined ? id : `${preset}/${id}`
}

/** The rows that two trees have differently, in the order of the second, then what it lacks. */
export function differingRows(
  before: readonly ComposedRow[],
  after: readonly ComposedRow[],
): RowKey[] {
  const [old, fresh] = [textsOf(before), textsOf(after)]
  return [...new Set([...fresh.keys(), ...old.keys()])].filter((key) => {
    return old.get(key) !== fresh.get(key)
  })
}

function textsOf(rows: readonly ComposedRow[]): Map<RowKey, string> {
  return new Map(rows.map((row) => [keyOf(row), canonical(row)]))
}

/** `after`, in which the rows that are not `taken` are as they were in `before`. */
export function mixTrees(
  before: readonly ComposedRow[],
  after: Composition,
  taken: ReadonlySet<RowKey>,
  env: Readonly<Record<string, string | undefined>>,
): Composition {
  const differing = new Set(differingRows(before, composedRows(after)))
  const mix = (rows: readonly Row[], preset?: string): Row[] => {
    const place = preset === undefined ? {} : { preset }
    const old = before.filter((row) => row.preset === preset)
    const kept = rows.flatMap((row): Row[] => {
      const key = keyOf({ id: row.id, ...place })
      if (!differing.has(key) || taken.has(key)) return [row]
      const was = old.find(({ id }) => id === row.id)
      return was ? [rowFrom(was, row, env)] : []
    })
    const gone = old.filter((was) => {
      return !rows.some(({ id }) => id === was.id) && !taken.has(keyOf(was))
    })
    return [...kept, ...gone.map((was) => rowFrom(was, rows[0] ?? after.rows[0], env))]
  }
  const presets = [...after.presets].map(([name, preset]) => {
    return [name, { ...preset, rows: mix(preset.rows, name) }] as const
  })
  return { ...after, rows: mix(after.rows), presets: new Map(presets) }
}

/** A remembered row; where it was written is taken from `like`. */
function rowFrom(
  { id, name, config = {}, disabled = false, optional = false }: ComposedRow,
  like: Row | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Row {
  const resolved = resolve(config, env) as Row['config']
  const from = like?.from ?? ''
  const origin = like?.origins.get('name') ?? { kind: 'profile' as const, file: from, line: 1 }
  const origins = new Map(['name', 'disabled', 'optional'].map((key) => [key, origin]))
  const fixed = { from, origins, blocked: [], versions: [] }
  return { id, name, config: resolved, written: config, disabled, optional, ...fixed }
}

/** `{ "!env": "NAME ?? default" }` and `{ "!path": … }` as they read here and now. */
function resolve(value: unknown, env: Readonly<Record<string, string | undefined>>): unknown {
  if (Array.isArray(value)) return value.map((member) => resolve(member, env))
  if (typeof value !== 'object' || value === null) return value
  const [[tag = '', text] = []] = Object.entries(value)
  if (typeof text === 'string' && (tag === '!env' || tag === '!path')) {
    if (tag === '!path') return text
    const [name = '', fallback] = text.split(/\s*\?\?\s*/)
    return env[name] ?? fallback
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, resolve(member, env)]),
  )
}
