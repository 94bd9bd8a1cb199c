import type { CatalogDatabase } from './catalog-database.ts'
import type { CatalogEntry, Seen, SeenFiles } from './catalog-rows.ts'
import {
  folderNames,
  hasLiveLane,
  isSame,
  seeFiles,
  stampOfLog,
  stampOfSegment,
} from './catalog-scan.ts'

/** A folder changed no longer ago may be changed again within the same tick of the disk's clock. */
const settledMs = 2000

interface Place {
  readonly id: string
  readonly updatedAt: number
  readonly seen: Seen | undefined
}

interface Fresh {
  readonly seen: Seen
  readonly files: SeenFiles
}

/**
 * The sessions below a root, newest first, a page at a time. Nothing but names, times and sizes
 * is looked at: which logs have changed is found without their owners' help.
 */
export class CatalogList {
  readonly #root: string
  readonly #database: CatalogDatabase
  readonly #places: Place[]
  /** Those that the catalog knows nothing of, or nothing that still holds. */
  readonly #fresh = new Map<string, Fresh>()
  #at = 0

  constructor(root: string, database: CatalogDatabase) {
    this.#root = root
    this.#database = database
    const known = database.known()
    const names = folderNames(root)
    this.#places = names.map((id) => this.#placeOf(id, known.get(id))).sort(byTime)
    const there = new Set(names)
    database.remove([...known.keys()].filter((id) => !there.has(id)))
  }

  /** JSON of `CatalogEntry[]`; nothing in it when the list is at its end. */
  next(count: number): string {
    const entries: string[] = []
    while (entries.length < count && this.#at < this.#places.length) {
      const place = this.#places[this.#at++]
      const entry = place && this.#entryOf(place)
      if (entry !== undefined) entries.push(entry)
    }
    return `[${entries.join(',')}]`
  }

  /** Keeps what was seen, and what was read of logs that `next` gave without it. */
  tell(told: Readonly<Record<string, string>>): void {
    const fresh = [...this.#fresh].map(([id, { seen, files }]) => {
      return [seen, { ...files, told: told[id] ?? null }] as const
    })
    this.#database.put(fresh)
  }

  #placeOf(id: string, known: Seen | undefined): Place {
    try {
      const log = stampOfLog(this.#root, id)
      if (!log) return { id, updatedAt: 0, seen: undefined }
      if (known && isSame(known.log, log) && (!known.unsettled || this.#row(id))) {
        return { id, updatedAt: known.updatedAt, seen: known }
      }
      const found = seeFiles(this.#root, id)
      if (!found) return { id, updatedAt: 0, seen: undefined }
      const { updatedAt, ...files } = found
      const recent = Date.now() - log.mtimeMs < settledMs
      const seen = { id, log, updatedAt, unsettled: recent || hasLiveLane(this.#root, id) }
      this.#fresh.set(id, { seen, files })
      return { id, updatedAt, seen }
    } catch {
      // Reading it will tell what is wrong with it.
      return { id, updatedAt: 0, seen: undefined }
    }
  }

  #entryOf({ id, updatedAt, seen }: Place): string | undefined {
    if (!seen) return textOf({ id, bytes: 0, updatedAt: 0, live: false })
    // Who takes a session begins a segment, so that it is seen anew.
    const live = seen.unsettled && hasLiveLane(this.#root, id)
    const fresh = this.#fresh.get(id)
    if (fresh) return textOf({ id, bytes: fresh.files.bytes, updatedAt, live })
    const row = this.#row(id)
    if (row) return textOf({ id, bytes: row.bytes, updatedAt, live }, row.told)
    this.#putBack(this.#placeOf(id, undefined))
    return undefined
  }

  /**
   * What is known of a log, if the segment that is written to is still as it was. A segment grows
   * while somebody owns it and never after: only one that was written over needs this look.
   */
  #row(id: string) {
    const row = this.#database.row(id)
    const stamp = row && stampOfSegment(this.#root, id, row.newest)
    return stamp && isSame(stamp, row.segment) ? row : undefined
  }

  #putBack(place: Place): void {
    const after = this.#places.findIndex((other, index) => {
      return index >= this.#at && byTime(place, other) <= 0
    })
    this.#places.splice(after < 0 ? this.#places.length : after, 0, place)
  }
}

function byTime(a: Place, b: Place): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)
}

function textOf(entry: CatalogEntry, told: string | null = null): string {
  const text = JSON.stringify(entry)
  return told === null ? text : `${text.slice(0, -1)},"told":${told}}`
}
