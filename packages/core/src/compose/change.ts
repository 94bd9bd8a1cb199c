import { isDeepStrictEqual } from 'node:util'
import { isSame } from './live-rows.ts'
import type { LiveRows, RowReport } from './live-rows.ts'
import type { Prepared, PreparedRow } from './prepared.ts'
import { isReady } from './service-graph.ts'

/** What one composition changes of the one that runs: ids of rows, and names of presets. */
export interface Change {
  added: string[]
  /** With another configuration or other code. */
  changed: string[]
  removed: string[]
  /** Stopped and started again as they are, since what they need was. */
  restarted: string[]
  kept: string[]
  /** Presets that agents made from now on get in another form. */
  presets: string[]
  /** Optional rows that are not there any more, or do not come up, each with its reason. */
  refused: RowReport[]
}

export function changeOf(live: LiveRows, before: Prepared | undefined, after: Prepared): Change {
  const wanted = new Map(after.rows.filter(isReady).map((row) => [row.row.id, row]))
  const running = live.newestFirst().toReversed()
  const changed = running.filter((id) => {
    const ready = wanted.get(id)
    return ready !== undefined && (live.failed(id) || !isSame(live.get(id)!, ready))
  })
  const removed = running.filter((id) => !wanted.has(id))
  const touched = live.dependents([...changed, ...removed])
  return {
    added: [...wanted.keys()].filter((id) => live.get(id) === undefined),
    changed,
    removed,
    restarted: running.filter(
      (id) => touched.has(id) && !changed.includes(id) && !removed.includes(id),
    ),
    kept: running.filter((id) => !touched.has(id)),
    presets: changedPresets(before, after),
    refused: [],
  }
}

/** The rows of `after` that are neither active nor disabled, and were not so `before`. */
export function newlyRefused(
  before: readonly RowReport[],
  after: readonly RowReport[],
): RowReport[] {
  const known = new Set(before.map(({ id, state }) => `${id} ${state}`))
  return after.filter(
    ({ id, state }) => state !== 'active' && state !== 'disabled' && !known.has(`${id} ${state}`),
  )
}

function changedPresets(before: Prepared | undefined, { presets }: Prepared): string[] {
  const names = new Set([...(before?.presets.keys() ?? []), ...presets.keys()])
  return [...names].filter((name) => {
    const [old, fresh] = [before?.presets.get(name), presets.get(name)]
    return (
      old === undefined ||
      fresh === undefined ||
      !isDeepStrictEqual(old.map(essence), fresh.map(essence))
    )
  })
}

function essence(prepared: PreparedRow): unknown {
  const { row, state } = prepared
  return [row.id, row.name, row.from, row.config, row.optional, state]
}
