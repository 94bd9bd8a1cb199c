import type { Scope } from '../kernel/index.ts'
import type { Preset } from './composition.ts'
import { fail, rejected } from './errors.ts'
import { describe } from './explain.ts'
import type { RowDescription } from './explain.ts'
import { LiveRows } from './live-rows.ts'
import type { RowReport } from './live-rows.ts'
import { didYouMean } from '../error/index.ts'
import type { Prepared, PreparedRow } from './prepared.ts'

/** `ctx.presets`: the named lists of rows that give an agent's scope its tools and prompt. */
export interface Presets {
  names(): string[]
  /** What the profile names, else `standard`; empty where there is none, so agents start bare. */
  readonly default: string
  /** Throws COMPOSE_PRESET_UNKNOWN. */
  describe(name: string): RowDescription[]
  /**
   * Mounts the rows of a preset until the scope closes. A failing optional row is quarantined and
   * reported; for a failing required one all are unmounted and COMPOSE_REJECTED is thrown.
   */
  mount(scope: Scope, name: string): Promise<{ rows: RowReport[] }>
}

declare module '@cordage/core/kernel' {
  interface Services {
    presets: Presets
  }
}

/** Presets of whatever `prepared` gives at the time: modules and configs are checked already. */
export function createPresets(prepared: () => Prepared | undefined, timeoutMs: number): Presets {
  const find = (name: string): { preset: Preset; rows: PreparedRow[] } => {
    const { composition, presets } = prepared() ?? {}
    const [preset, rows] = [composition?.presets.get(name), presets?.get(name)]
    if (preset !== undefined && rows !== undefined) return { preset, rows }
    const names = [...(presets?.keys() ?? [])]
    const known = didYouMean(name, names) ?? (names.join(', ') || 'none')
    throw fail('COMPOSE_PRESET_UNKNOWN', { preset: name, known })
  }
  return {
    names: () => [...(prepared()?.presets.keys() ?? [])],
    get default() {
      const { defaultPreset, presets } = prepared()?.composition ?? {}
      return defaultPreset ?? (presets?.has('standard') ? 'standard' : '')
    },
    describe: (name) => find(name).preset.rows.map((row) => describe(row, name)),
    async mount(scope, name) {
      const { rows } = find(name)
      const live = new LiveRows(scope.ctx, timeoutMs)
      for (const row of rows) if (row.state === 'ready') live.mount(row)
      const problems = await live.settle()
      if (problems.length === 0) return { rows: rows.map((row) => live.report(row)) }
      for (const id of live.newestFirst()) await live.unmount(id)
      throw rejected(problems)
    },
  }
}
