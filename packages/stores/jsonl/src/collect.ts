import { join } from 'node:path'
import { isHarnessError } from '@cordage/core/error'
import type { Collected, CollectOptions, Io, SessionSummary } from '@cordage/core/store'
import { placeFile } from './io.ts'
import { entryOf, listSessions } from './listing.ts'
import { leasePath, type JsonlStoreOptions } from './options.ts'
import { emptyTrash, removeSession } from './removal.ts'
import { folderBytes, sweepSession, type Swept } from './sweep.ts'

const dayMs = 86_400_000
const defaultAsideDays = 30
/** Its time says when the last collection began. */
const markerName = '.collected'
/** A session is made within moments: what is a draft for a day is left over. */
const draftMs = dayMs

/** A session that is to go, and why. */
interface Doomed {
  readonly id: string
  readonly bytes: number
  readonly reason: 'age' | 'space'
}

interface Chosen extends Doomed {
  /** As it was when it was chosen. */
  readonly seen: SessionSummary
}

/** Removes sessions that are too old or too many, and what no session needs. */
export async function collectGarbage(
  options: JsonlStoreOptions,
  wanted: CollectOptions,
): Promise<Collected> {
  const { io, directory: root } = options
  const { dryRun = false, signal, asideDays = defaultAsideDays, blobs = false } = wanted
  const sessions: Doomed[] = []
  const swept: Swept[] = []
  if ((await io.stat(root)) && (await isDue(io, root, wanted))) {
    if (!dryRun) await emptyTrash(io, root)
    swept.push(...(await sweepDrafts(io, root, dryRun)))
    const listed = await listSessions(options, { children: true, archived: true })
    for (const { seen, ...doomed } of await choose(options, listed, wanted)) {
      if (signal?.aborted) break
      if (await remove(options, seen, dryRun)) sessions.push(doomed)
    }
    const gone = new Set(sessions.map(({ id }) => id))
    const asideBefore = Date.now() - asideDays * dayMs
    for (const { header } of listed.filter(({ header }) => !gone.has(header.id))) {
      if (signal?.aborted) break
      swept.push(...(await sweepSession(options, header.id, { asideBefore, blobs, dryRun })))
    }
  }
  const count = (kind: Swept['kind']) => swept.filter((one) => one.kind === kind).length
  const bytes = [...sessions, ...swept].reduce((sum, one) => sum + one.bytes, 0)
  const left = { blobs: count('blobs'), aside: count('aside'), leftovers: count('leftovers') }
  return { sessions, ...left, bytes }
}

async function isDue(io: Io, root: string, { everyMs, dryRun }: CollectOptions): Promise<boolean> {
  const marker = join(root, markerName)
  const last = (await io.stat(marker))?.mtimeMs ?? -Infinity
  if (everyMs !== undefined && Date.now() - last < everyMs) return false
  if (dryRun !== true) await placeFile(io, marker, new Uint8Array())
  return true
}

/** Oldest first. What is damaged is never chosen: somebody may want to save what is left of it. */
async function choose(
  { io, directory: root }: JsonlStoreOptions,
  listed: readonly SessionSummary[],
  { maxAgeDays = Infinity, maxTotalBytes = Infinity, keepArchived = false }: CollectOptions,
): Promise<readonly Chosen[]> {
  const doomed: Chosen[] = []
  if (maxAgeDays === Infinity && maxTotalBytes === Infinity) return doomed
  const sizes = new Map<string, number>()
  for (const { header } of listed) {
    sizes.set(header.id, await folderBytes(io, join(root, header.id)))
  }
  let total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  const oldest = Date.now() - maxAgeDays * dayMs
  for (const seen of listed.toReversed()) {
    const { header, updatedAt, damaged, archived, busy } = seen
    const tooOld = updatedAt < oldest
    if (!tooOld && total <= maxTotalBytes) continue
    if (busy || damaged !== undefined || (keepArchived && archived)) continue
    const { id } = header
    const bytes = sizes.get(id) ?? 0
    doomed.push({ id, bytes, reason: tooOld ? 'age' : 'space', seen })
    total -= bytes
  }
  return doomed
}

/** False when somebody has come to own it, or has written to it since it was chosen. */
async function remove(
  options: JsonlStoreOptions,
  { header: { id }, bytes, updatedAt }: SessionSummary,
  dryRun: boolean,
): Promise<boolean> {
  const { io, directory: root } = options
  if (dryRun) return !(await io.locked(leasePath(join(root, id))))
  try {
    return await removeSession(options, id, async () => {
      const now = await entryOf(io, root, id)
      return now?.bytes === bytes && Math.trunc(now.updatedAt) === updatedAt
    })
  } catch (error) {
    if (isHarnessError(error, 'SESSION_BUSY')) return false
    throw error
  }
}

/** Sessions whose maker died before they had their name. */
async function sweepDrafts(io: Io, root: string, dryRun: boolean): Promise<readonly Swept[]> {
  const swept: Swept[] = []
  for (const { name } of await io.list(root)) {
    if (!name.startsWith('.new-') && !name.startsWith(`${markerName}.`)) continue
    const path = join(root, name)
    const stat = await io.stat(path)
    if (!stat || Date.now() - stat.mtimeMs < draftMs) continue
    if (stat.kind === 'directory' && (await io.locked(leasePath(path)))) continue
    swept.push({ kind: 'leftovers', path, bytes: await folderBytes(io, path) })
    if (!dryRun) await io.remove(path)
  }
  return swept
}
