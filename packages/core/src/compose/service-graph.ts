import type { AnyPlugin } from '../kernel/index.ts'
import { problemOf } from './composition.ts'
import type { Row } from './composition.ts'
import type { PreparedRow, ReadyRow } from './prepared.ts'
import type { Problem } from './problem.ts'

/** What a plugin declares to provide; undefined for one that does not say. */
export function providesOf(plugin: AnyPlugin): readonly string[] | undefined {
  return 'provides' in plugin ? (plugin.provides as readonly string[]) : undefined
}

export function injectOf(plugin: AnyPlugin): string[] {
  const inject = plugin.inject ?? []
  return Array.isArray(inject) ? [...inject] : Object.keys(inject)
}

export function isReady(prepared: PreparedRow): prepared is ReadyRow {
  return prepared.state === 'ready'
}

export interface Missing {
  row: Row
  service: string
  /** An optional row that would provide the service but cannot start itself. */
  blocked?: Row
  preset?: string
}

/** Who needs whom among the rows of a composition, and who can never start. */
export class ServiceGraph {
  readonly #rows: readonly ReadyRow[]
  readonly #open: boolean
  readonly #providers = new Map<string, ReadyRow>()
  readonly #available: (service: string) => boolean
  readonly #stuck: ReadyRow[]

  constructor(rows: readonly ReadyRow[], given: (service: string) => boolean, open: boolean) {
    this.#rows = rows
    this.#open = open || rows.some(({ plugin }) => providesOf(plugin) === undefined)
    for (const row of rows) {
      for (const service of providesOf(row.plugin) ?? []) this.#providers.set(service, row)
    }
    const started = new Set<string>()
    this.#available = (service) => started.has(service) || given(service)
    this.#stuck = this.#start(started)
  }

  /** Rings of rows that wait for each other, each reported once. */
  cycles(): Problem[] {
    const problems: Problem[] = []
    const reported = new Set<ReadyRow>()
    for (const start of this.#stuck) {
      const ring = this.#ring(start)
      if (ring === undefined || ring.some((row) => reported.has(row))) continue
      for (const row of ring) reported.add(row)
      if (ring.every(({ row }) => row.optional)) continue
      const text = [...ring, ring[0]!].map(({ row }) => row.id).join(' -> ')
      const hint = 'Let one of them ask for the service with ctx.inject or ctx.get instead.'
      problems.push(
        problemOf(ring[0]!.row, 'SERVICE_CYCLE', `rows need each other: ${text}.`, hint),
      )
    }
    return problems
  }

  missing(): Missing[] {
    const required = this.#stuck.filter(({ row }) => !row.optional)
    return required.flatMap((row) => this.missingOf(row))
  }

  /** What `row` needs and will not get, apart from what a reported row fails to provide. */
  missingOf({ row, plugin }: ReadyRow): Missing[] {
    return this.#needsOf(plugin).flatMap((service): Missing[] => {
      const provider = this.#providers.get(service)
      if (provider === undefined) return this.#open ? [] : [{ row, service }]
      return provider.row.optional ? [{ row, service, blocked: provider.row }] : []
    })
  }

  #needsOf(plugin: AnyPlugin): string[] {
    return injectOf(plugin).filter((service) => !this.#available(service))
  }

  // Starts what can start, round by round, and gives the rest.
  #start(started: Set<string>): ReadyRow[] {
    let waiting = this.#rows
    for (;;) {
      const able = waiting.filter(({ plugin }) => this.#needsOf(plugin).length === 0)
      if (able.length === 0) return [...waiting]
      for (const { plugin } of able) {
        for (const service of providesOf(plugin) ?? []) started.add(service)
      }
      waiting = waiting.filter((row) => !able.includes(row))
    }
  }

  // Follows each row's needs to who provides them until a row comes back.
  #ring(start: ReadyRow, path: readonly ReadyRow[] = []): ReadyRow[] | undefined {
    if (start === path[0]) return [...path]
    if (path.includes(start)) return undefined
    for (const service of this.#needsOf(start.plugin)) {
      const provider = this.#providers.get(service)
      const ring = provider && this.#ring(provider, [...path, start])
      if (ring !== undefined) return ring
    }
    return undefined
  }
}
