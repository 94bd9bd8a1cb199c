import type { Row } from './composition.ts'
import type { RefusedRow } from './preflight.ts'

/** What became of one row, for people and programs. */
export interface RowReport {
  id: string
  state: 'active' | 'waiting' | 'failed' | 'disabled' | 'skipped' | 'quarantined'
  /** Why it is not active, as a sentence. */
  reason?: string
  /** The services that a waiting row misses. */
  needs?: string[]
  /** The layer and line that named the row, or that disabled it. */
  file: string
  line: number
  version?: string
  /** From mounting to the settled state; 0 for a row that was never mounted. */
  ms: number
}

export function placeOf(row: Row): { file: string; line: number } {
  const { file, line } = row.origins.get(row.disabled ? 'disabled' : 'name')!
  return { file, line }
}

export function reportDisabled(row: Row): RowReport {
  const { file, line } = placeOf(row)
  const reason = `It is disabled at ${file}:${line}.`
  return { id: row.id, state: 'disabled', reason, file, line, ms: 0 }
}

export function reportRefused({ row, state, reason }: RefusedRow): RowReport {
  return { id: row.id, state, reason, ...placeOf(row), ms: 0 }
}
