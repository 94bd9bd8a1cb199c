import { join } from 'node:path'
import type { SessionHeader } from '@cordage/core/session'
import {
  type Io,
  type IoStat,
  isSessionId,
  type ListOptions,
  type SessionSummary,
} from '@cordage/core/store'
import { decodeFrame } from './frame.ts'
import { errorCode, readWhole } from './io.ts'
import { livePath } from './live-lane.ts'
import { listSegments, type SegmentFile } from './segment.ts'
import { readWords } from './words.ts'

const headBytes = 16 * 1024
const parallel = 32

interface Entry {
  readonly id: string
  readonly files: readonly SegmentFile[]
  readonly bytes: number
  /** As exactly as the system tells, to order by. */
  readonly updatedAt: number
}

/**
 * Newest first, from file names, sizes, times and the first frame of each log; of those that are
 * listed, from the beginnings of two segments too. It takes no longer for a longer log.
 */
export async function listSessions(
  io: Io,
  root: string,
  options: ListOptions,
): Promise<SessionSummary[]> {
  const entries = await entriesOf(io, root, options)
  entries.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
  const limit = options.limit ?? Infinity
  const found: SessionSummary[] = []
  for (let at = 0; at < entries.length && found.length < limit; at += parallel) {
    const page = entries.slice(at, at + parallel)
    const summaries = await Promise.all(page.map((entry) => summarise(io, root, entry)))
    const fitting = page.flatMap((entry, index) => {
      const summary = summaries[index]
      return summary && matches(summary, options) ? [{ entry, summary }] : []
    })
    const worded = fitting.map(async ({ entry, summary }) => ({
      ...summary,
      ...(summary.damaged === undefined ? await readWords(io, summary.header, entry.files) : {}),
    }))
    const listed = (await Promise.all(worded)).filter(({ archived }) => {
      return options.archived === true || archived !== true
    })
    found.push(...listed.slice(0, limit - found.length))
  }
  return found
}

function matches({ header, damaged }: SessionSummary, options: ListOptions): boolean {
  // A log without a header may be anybody's, and must not go unseen.
  if (damaged !== undefined && header.project === '') return true
  if (options.project !== undefined && header.project !== options.project) return false
  return options.children === true || header.depth === 0
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

async function entryOf(io: Io, root: string, id: string): Promise<Entry | undefined> {
  try {
    const files = await listSegments(io, join(root, id))
    const stats = await Promise.all(files.map(({ path }) => io.stat(path)))
    const sized = stats.filter((stat): stat is IoStat => stat !== undefined && stat.size > 0)
    const bytes = sized.reduce((sum, { size }) => sum + size, 0)
    return { id, files, bytes, updatedAt: sized.at(-1)?.mtimeMs ?? 0 }
  } catch {
    // No log folder, or one that cannot be read: somebody else's folder.
    return undefined
  }
}

async function summarise(io: Io, root: string, entry: Entry): Promise<SessionSummary> {
  const { bytes, id } = entry
  const updatedAt = Math.trunc(entry.updatedAt)
  const head = await headerOf(io, entry)
  const summary = { updatedAt, bytes }
  if (typeof head === 'string') {
    const header: SessionHeader = { format: 1, id, createdAt: updatedAt, project: '', depth: 0 }
    return { ...summary, header, damaged: head }
  }
  if (head.id !== id) {
    const reason = `its folder is called ${id} but holds session ${head.id}`
    return { ...summary, header: { ...head, id }, damaged: reason }
  }
  const busy = await isBusy(io, join(root, id))
  return busy ? { ...summary, header: head, busy } : { ...summary, header: head }
}

/**
 * The header of a log, or why there is none. Every segment begins with it, but those that a fork
 * shares begin with another session's, and they are never the newest.
 */
async function headerOf(io: Io, { id, files }: Entry): Promise<SessionHeader | string> {
  let reason = 'it holds no segment'
  let other: SessionHeader | undefined
  for (const file of files.toReversed()) {
    try {
      const frame = decodeFrame(await readWhole(io, file.path, headBytes), 0, file.encoding)
      const header = 'problem' in frame ? undefined : frame.meta.header
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

/** Only an owner has a live lane, so nobody else's lease needs to be tried. */
async function isBusy(io: Io, directory: string): Promise<boolean> {
  try {
    const lane = await io.stat(livePath(directory))
    return lane !== undefined && (await io.locked(join(directory, 'lease.db')))
  } catch {
    // A lease that cannot be asked says nothing; opening will find out.
    return false
  }
}

function nothing(error: unknown): [] {
  if (errorCode(error) === 'ENOENT') return []
  throw error
}
