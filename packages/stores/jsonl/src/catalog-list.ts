import type { CatalogDatabase } from './catalog-database.ts'
import type { CatalogEntry, Seen, SeenFiles } from './catalog-rows.ts'
import {
  folderNames,
  hasLiveLane,
  isSame,
  seeFiles,
  stampOfLog,
  stampOfSegment,
  timeElsewhere,
} from './catalog-scan.ts'

/** A folder changed no longer ago may be changed again within the same tick of the disk's clock. */
const settledMs = 2000

interface Place {
  readonly id: string
  readonly updatedAt: number
  readonly seen: Seen | undefined
}

/**
 * The sessions below a root, newest first, a page at a time. Nothing but names, times and sizes
 * is looked at: which logs have changed is found without their owners' help.
 */
export class CatalogList {
  readonly #root: string
  readonly #database: CatalogDatabase
  readonly #places: Place[]
  /** Those that were looked at anew. */
  readonly #fresh = new Map<string, Seen>()
  #at = 0

  constructor(root: string, database: CatalogDatabase) {
    this.#root = root
    this.#database = database
    const there = new Set(folderNames(root))
    const gone: string[] = []
    const places: Place[] = []
    // In the order of the catalog, which is nearly that of the list: the folder has none.
    for (const [id, seen] of database.known()) {
      if (there.delete(id)) places.push(this.#placeOf(id, seen))
      else gone.push(id)
    }
    for (const id of there) places.push(this.#placeOf(id, undefined))
    this.#places = places.sort(byTime)
    database.remove(gone)
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
    const known = this.#database.known()
    const fresh = [...this.#fresh.values()].map((seen) => {
      return { ...seen, told: told[seen.id] ?? seen.told }
    })
    this.#database.put(fresh.filter((seen) => !isKept(known.get(seen.id), seen)))
  }

  #placeOf(id: string, known: Seen | undefined): Place {
    try {
      const log = stampOfLog(this.#root, id)
      if (!log) return { id, updatedAt: timeElsewhere(this.#root, id), seen: undefined }
      const isKnown = known && !known.unsettled && isSame(known.log, log)
      const seen = isKnown ? known : this.#see(id, log, known)
      return { id, updatedAt: seen?.updatedAt ?? 0, seen }
    } catch {
      // Reading it will tell what is wrong with it.
      return { id, updatedAt: 0, seen: undefined }
    }
  }

  /** Looks at the files of a log, and keeps what is known of them if they are as they were. */
  #see(id: string, log: Seen['log'], known: Seen | undefined): Seen | undefined {
    const files = seeFiles(this.#root, id)
    if (!files) return undefined
    const recent = Date.now() - log.mtimeMs < settledMs
    const unsettled = recent || files.segment.size === 0 || hasLiveLane(this.#root, id)
    const told = known && isSame(known.log, log) && isAsSeen(known, files) ? known.told : null
    const seen = { id, log, ...files, unsettled, told }
    this.#fresh.set(id, seen)
    return seen
  }

  /**
   * A segment grows while somebody owns it and never after: only one that was written over needs
   * the look at the segment here.
   */
  #entryOf({ id, seen }: Place): string | undefined {
    if (!seen) return textOf({ id, bytes: 0, updatedAt: 0, live: false })
    if (!this.#fresh.has(id)) {
      const segment = stampOfSegment(this.#root, id, seen.newest)
      if (!segment || !isSame(segment, seen.segment)) return this.#putBack(id)
    }
    // Who takes a session begins a segment, so that it is seen anew.
    const live = seen.unsettled && hasLiveLane(this.#root, id)
    const { bytes, updatedAt } = seen
    return textOf({ id, bytes, updatedAt, live }, seen.told)
  }

  /** Looks at a log anew, which may have another place then. */
  #putBack(id: string): undefined {
    const place = this.#placeOf(id, undefined)
    const after = this.#places.findIndex((other, index) => {
      return index >= this.#at && byTime(place, other) <= 0
    })
    this.#places.splice(after < 0 ? this.#places.length : after, 0, place)
  }
}

function byTime(a: Place, b: Place): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)
}

/** Whether writing it down would change nothing. */
function isKept(known: Seen | undefined, seen: Seen): boolean {
  if (!known || known.told !== seen.told || known.unsettled !== seen.unsettled) return false
  return isSame(known.log, seen.log) && isAsSeen(known, seen)
}

function isAsSeen(known: SeenFiles, { newest, segment, bytes }: SeenFiles): boolean {
  return known.newest === newest && known.bytes === bytes && isSame(known.segment, segment)
}

function textOf(entry: CatalogEntry, told: string | null = null): string {
  const text = JSON.stringify(entry)
  return told === null ? text : `${text.slice(0, -1)},"told":${told}}`
}
