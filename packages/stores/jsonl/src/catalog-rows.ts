import type { SessionHeader } from '@cordage/core/session'
import type { SessionSummary, SessionWords } from '@cordage/core/store'

/** What a file or folder looked like when it was looked at: another one looks different. */
export interface Stamp {
  readonly ino: number
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
}

/** The segment that is written to, and the size of all. */
export interface SeenFiles {
  readonly newest: string
  readonly segment: Stamp
  readonly bytes: number
  readonly updatedAt: number
}

/** A log as it was when it was looked at; all of them are kept in memory. */
export interface Seen extends SeenFiles {
  readonly id: string
  /** Its folder `log` changes when a segment is begun, removed or replaced. */
  readonly log: Stamp
  /** It was owned, quite new or only claimed, so that its segment may have grown since. */
  readonly unsettled: boolean
  /** JSON of a `Told`, without which the log was only looked at. */
  readonly told: string | null
}

/** What reading a log told: all that a list shows besides sizes and times. */
export interface Told extends SessionWords {
  readonly header: SessionHeader
  readonly damaged?: string
}

/** A session as the catalog has it; without `told` its log has to be read. */
export interface CatalogEntry {
  readonly id: string
  readonly bytes: number
  readonly updatedAt: number
  /** There is a live lane, so that somebody may own it. */
  readonly live: boolean
  readonly told?: Told
}

/** Which sessions a list wants, as far as it depends on what was read. */
export interface ListFilter {
  readonly project?: string
  readonly children?: boolean
  readonly archived?: boolean
}

export function isWanted(
  { header, damaged, archived }: Pick<SessionSummary, 'header' | 'damaged' | 'archived'>,
  filter: ListFilter,
): boolean {
  // A log without a header may be anybody's, and must not go unseen.
  if (damaged !== undefined && header.project === '') return true
  if (filter.project !== undefined && header.project !== filter.project) return false
  if (archived === true && filter.archived !== true) return false
  return filter.children === true || header.depth === 0
}
