import { attach } from './attach.ts'
import type { Context } from './context.ts'
import { rowOf } from './row.ts'
import { reaches, scopeOf, type Scope } from './scope.ts'

/** One handler of a hook or listener of a notice. */
export interface Registration<T> {
  readonly value: T
  readonly id: string
  readonly order: number
  readonly row: string
  readonly scope: Scope | undefined
  /** False once its plugin unloaded, also for runs that already hold it. */
  live: boolean
}

export interface Roster<T> {
  add(ctx: Context, value: T, options: { id?: string; order?: number; scope?: Scope }): () => void
  /** Those that apply in `scope`, by order, id and row; only equals keep their time of arrival. */
  select(ctx: Context, scope: Scope | undefined): Registration<T>[]
}

const counts = new WeakMap<Context, Map<string, number>>()

export function createRoster<T>(name: string): Roster<T> {
  const perRoot = new WeakMap<Context, Registration<T>[]>()

  return {
    add(ctx, value, { id = rowOf(ctx), order = 0, scope = scopeOf(ctx) }) {
      const entry = { value, id, order, row: rowOf(ctx), scope, live: true }
      const { root } = ctx
      return attach(ctx, name, () => {
        perRoot.set(root, [...(perRoot.get(root) ?? []), entry].sort(compare))
        count(root, name, 1)
        return () => {
          entry.live = false
          perRoot.set(root, perRoot.get(root)?.filter((other) => other !== entry) ?? [])
          count(root, name, -1)
        }
      })
    },
    select(ctx, scope) {
      return (perRoot.get(ctx.root) ?? []).filter((entry) => reaches(entry.scope, scope))
    },
  }
}

/** Number of live registrations by the name of the hook or notice. */
export function rosterCounts(root: Context): Record<string, number> {
  return Object.fromEntries(counts.get(root) ?? [])
}

/** Orders by number, then by code units: never by locale or arrival. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function compare(a: Registration<unknown>, b: Registration<unknown>): number {
  return a.order - b.order || compareIds(a.id, b.id) || compareIds(a.row, b.row)
}

function count(root: Context, name: string, by: 1 | -1): void {
  const byName = counts.get(root) ?? new Map<string, number>()
  counts.set(root, byName)
  const total = (byName.get(name) ?? 0) + by
  if (total === 0) byName.delete(name)
  else byName.set(name, total)
}
