import { assert } from './assert.ts'
import { attach } from './attach.ts'
import type { Context } from './context.ts'
import { describeFailure, log } from './log.ts'
import { compareIds } from './roster.ts'
import { rowOf } from './row.ts'
import { scopeOf, type Scope } from './scope.ts'

export interface Entry<T> {
  readonly id: string
  readonly value: T
  readonly order: number
  /** The row that added it. */
  readonly row: string
  readonly scope: Scope | undefined
}

export type RegistryChange<T> = (entry: Entry<T>, change: 'added' | 'removed') => unknown

export interface Registry<T> {
  readonly label: string
  /** Adds `value` to the scope of `ctx` until `ctx` unloads or the result is called. */
  add(ctx: Context, id: string, value: T, options?: { order?: number }): () => void
  get(id: string, scope?: Scope): Entry<T> | undefined
  /** What applies in `scope`, by order and id; the nearest scope wins an id. */
  list(scope?: Scope): Entry<T>[]
  /** The same without what was added in the scopes around it: a child's own, and what all have. */
  listOwn(scope: Scope): Entry<T>[]
  /** Calls `listener` after each change; what it throws is logged. */
  onChange(ctx: Context, listener: RegistryChange<T>): () => void
}

/** A scoped, ordered table; `label` names it in messages, as in `tool` or `model`. */
export function createRegistry<T>(label: string): Registry<T> {
  const tables = new Map<Scope | undefined, Map<string, Entry<T>>>()
  const listeners = new Set<{ ctx: Context; listener: RegistryChange<T> }>()

  const announce = (entry: Entry<T>, change: 'added' | 'removed') => {
    for (const { ctx, listener } of listeners) {
      try {
        listener(entry, change)
      } catch (error) {
        const fields = { id: entry.id, error: describeFailure(error) }
        log(ctx, 'error', `a listener of the ${label} registry failed`, fields)
      }
    }
  }

  return {
    label,
    add: (ctx, id, value, { order = 0 } = {}) => {
      const entry: Entry<T> = { id, value, order, row: rowOf(ctx), scope: scopeOf(ctx) }
      return attach(ctx, `${label} ${id}`, () => {
        insert(tables, label, entry)
        announce(entry, 'added')
        return () => {
          remove(tables, entry)
          announce(entry, 'removed')
        }
      })
    },
    get: (id, scope) => lookup(tables, id, scope),
    list: (scope) => [...visible(tables, scope).values()].sort(compareEntries),
    listOwn: (scope) => {
      const all = visible(tables)
      for (const [id, entry] of tables.get(scope) ?? []) all.set(id, entry)
      return [...all.values()].sort(compareEntries)
    },
    onChange: (ctx, listener) => {
      return attach(ctx, `${label} listener`, () => {
        const own = { ctx, listener }
        listeners.add(own)
        return () => void listeners.delete(own)
      })
    },
  }
}

type Tables<T> = Map<Scope | undefined, Map<string, Entry<T>>>

function insert<T>(tables: Tables<T>, label: string, entry: Entry<T>): void {
  const table = tables.get(entry.scope) ?? new Map<string, Entry<T>>()
  const other = table.get(entry.id)
  const where = entry.scope ? ` in scope ${entry.scope.label}` : ''
  assert(
    !other,
    `${label} "${entry.id}" of ${entry.row} is already registered by ${other?.row}${where}`,
  )
  table.set(entry.id, entry)
  tables.set(entry.scope, table)
}

function remove<T>(tables: Tables<T>, entry: Entry<T>): void {
  const table = tables.get(entry.scope)
  table?.delete(entry.id)
  if (table?.size === 0) tables.delete(entry.scope)
}

function lookup<T>(tables: Tables<T>, id: string, scope?: Scope): Entry<T> | undefined {
  for (let at = scope; at; at = at.parent) {
    const entry = tables.get(at)?.get(id)
    if (entry) return entry
  }
  return tables.get(undefined)?.get(id)
}

function visible<T>(tables: Tables<T>, scope?: Scope): Map<string, Entry<T>> {
  const outer = scope ? visible(tables, scope.parent) : new Map<string, Entry<T>>()
  for (const [id, entry] of tables.get(scope) ?? []) outer.set(id, entry)
  return outer
}

function compareEntries(a: Entry<unknown>, b: Entry<unknown>): number {
  return a.order - b.order || compareIds(a.id, b.id)
}
