import { join } from 'node:path'
import type { SessionHeader } from '@cordage/core/session'
import {
  type Io,
  type IoStat,
  isSessionId,
  type ListOptions,
  type SessionSummary,
} from '@cordage/core/store'
import { type CatalogEntry, isWanted, type Told } from './catalog-rows.ts'
import type { CatalogPages } from './catalog.ts'
import { formatSteps, headerIn } from './format-steps.ts'
import { decodeFrame } from './frame.ts'
import { errorCode, readWhole } from './io.ts'
import { livePath } from './live-lane.ts'
import { type JsonlStoreOptions, leasePath } from './options.ts'
import { listSegments, type SegmentFile } from './segment.ts'
import { readWords } from './words.ts'

const headBytes = 16 * 1024
const parallel = 32
/** Asked of the catalog at once where few of them may be wanted. */
const maxPage = 500

interface Entry extends Omit<CatalogEntry, 'told'> {
  readonly files: readonly SegmentFile[]
}

/**
 * Newest first. Of each log two beginnings are read, however long it is, and with a catalog only
 * of those that have changed since it last saw them.
 */
export async function listSessions(
  store: JsonlStoreOptions,
  options: ListOptions,
): Promise<SessionSummary[]> {
  const pages = options.idPrefix ? undefined : store.catalog?.begin()
  const listed = pages && (await listFromPages(store, pages, options))
  return listed ?? listFromDisk(store, options)
}

async function listFromDisk(
  store: JsonlStoreOptions,
  options: ListOptions,
): Promise<SessionSummary[]> {
  const { io, directory: root } = store
  const entries = await entriesOf(io, root, options)
  entries.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
  const limit = options.limit ?? Infinity
  const found: SessionSummary[] = []
  for (let at = 0; at < entries.length && found.length < limit; at += parallel) {
    const page = entries.slice(at, at + parallel).map(async (entry) => {
      return { entry, told: await read(store, entry) }
    })
    for (const { entry, told } of await Promise.all(page)) {
      if (isWanted(told, options)) found.push(await summarise(io, root, entry, told))
    }
  }
  return found.slice(0, limit)
}

/** `undefined` when the catalog has failed, at whatever place. */
async function listFromPages(
  store: JsonlStoreOptions,
  pages: CatalogPages,
  options: ListOptions,
): Promise<SessionSummary[] | undefined> {
  const { io, directory: root } = store
  const limit = options.limit ?? Infinity
  const found: SessionSummary[] = []
  try {
    while (found.length < limit) {
      const left = limit - found.length
      const page = await pages.next(options.project === undefined ? left : Math.max(left, maxPage))
      if (page === undefined || page.length === 0) return page && found
      for (let at = 0; at < page.length && found.length < limit; at += parallel) {
        const some = page.slice(at, at + parallel)
        // Where nothing has changed, which is nearly always so, there is nothing to wait for.
        const entries = some.every(isKnown)
          ? some
          : await Promise.all(some.map((entry) => current(store, entry, pages)))
        for (const { told, ...entry } of entries) {
          if (!told || !isWanted(told, options)) continue
          found.push(entry.live ? await summarise(io, root, entry, told) : summaryOf(entry, told))
        }
      }
    }
    return found.slice(0, limit)
  } finally {
    pages.end()
  }
}

/** Whatever stands in the catalog instead is read anew. */
function isKnown({ id, told }: CatalogEntry): boolean {
  return (told as Partial<Told> | undefined)?.header?.id === id
}

/** An entry with what its log says; without that where it is nobody's. */
async function current(
  store: JsonlStoreOptions,
  entry: CatalogEntry,
  pages: CatalogPages,
): Promise<CatalogEntry> {
  const { id } = entry
  if (isKnown(entry)) return entry
  const found = isSessionId(id) ? await entryOf(store.io, store.directory, id) : undefined
  if (!found) return { id, bytes: 0, updatedAt: 0, live: false }
  const told = await read(store, found)
  pages.tell(id, told)
  return { ...found, told }
}

async function entriesOf(io: Io, root: string, { idPrefix = '' }: ListOptions): Promise<Entry[]> {
  const names = await io.list(root).catch(nothing)
  const wanted = idPrefix.toLowerCase()
  const ids = names.filter(({ name, kind }) => {
    return kind === 'directory' && isSessionId(name) && name.toLowerCase().startsWith(wanted)
  })
  const entries: Entry[] = []
  for (let at = 0; at < ids.length; at += parallel) {
    const page = ids.slice(at, at + parallel)
    const found = await Promise.all(page.map(({ name }) => entryOf(io, root, name)))
    for (const entry of found) if (entry) entries.push(entry)
  }
  return entries
}

/** Where a log is and how far it goes, whatever the catalog knows; `undefined` for no log. */
export async function entryOf(io: Io, root: string, id: string): Promise<Entry | undefined> {
  try {
    const directory = join(root, id)
    const files = await listSegments(io, directory)
    const stats = await Promise.all(files.map(({ path }) => io.stat(path)))
    const sized = stats.filter((stat): stat is IoStat => stat !== undefined && stat.size > 0)
    const bytes = sized.reduce((sum, { size }) => sum + size, 0)
    // Only an owner has a live lane, so nobody else's lease needs to be tried.
    const live = (await io.stat(livePath(directory))) !== undefined
    return { id, files, bytes, updatedAt: sized.at(-1)?.mtimeMs ?? 0, live }
  } catch {
    // No log folder, or one that cannot be read: somebody else's folder.
    return undefined
  }
}

/** What a log says of itself. */
async function read(store: JsonlStoreOptions, entry: Entry): Promise<Told> {
  const { id } = entry
  const head = await headerOf(store, entry)
  if (typeof head === 'string') {
    const createdAt = Math.trunc(entry.updatedAt)
    return { header: { format: 1, id, createdAt, project: '', depth: 0 }, damaged: head }
  }
  if (head.id !== id) {
    const reason = `its folder is called ${id} but holds session ${head.id}`
    return { header: { ...head, id }, damaged: reason }
  }
  return { header: head, ...(await readWords(store.io, head, entry.files)) }
}

function summaryOf({ bytes, updatedAt }: Omit<CatalogEntry, 'told'>, told: Told): SessionSummary {
  return { ...told, bytes, updatedAt: Math.trunc(updatedAt) }
}

async function summarise(
  io: Io,
  root: string,
  entry: Omit<CatalogEntry, 'told'>,
  told: Told,
): Promise<SessionSummary> {
  const busy = entry.live && (await isBusy(io, join(root, entry.id)))
  return busy ? { ...summaryOf(entry, told), busy } : summaryOf(entry, told)
}

/**
 * The header of a log, or why there is none. Every segment begins with it, but those that a fork
 * shares begin with another session's, and they are never the newest.
 */
async function headerOf(
  { io, steps = formatSteps }: JsonlStoreOptions,
  { id, files }: Entry,
): Promise<SessionHeader | string> {
  let reason = 'it holds no segment'
  let other: SessionHeader | undefined
  for (const file of files.toReversed()) {
    try {
      const frame = decodeFrame(await readWhole(io, file.path, headBytes), 0, file.encoding)
      const header = 'problem' in frame ? undefined : headerIn(frame.meta, steps)
      // A fork's first segments are shared, and bear the header of the session they are from.
      if (header?.id === id) return header
      other ??= header
      reason = `segment ${file.number} ${'problem' in frame ? frame.reason : 'has no header'}`
    } catch (error) {
      reason = `segment ${file.number} cannot be read (${errorCode(error) ?? String(error)})`
    }
  }
  return other ?? reason
}

async function isBusy(io: Io, directory: string): Promise<boolean> {
  try {
    return await io.locked(leasePath(directory))
  } catch {
    // A lease that cannot be asked says nothing; opening will find out.
    return false
  }
}

function nothing(error: unknown): [] {
  if (errorCode(error) === 'ENOENT') return []
  throw error
}
