import { join } from 'node:path'
import { isHarnessError } from '@cordage/core/error'
import type { Collected, CollectOptions, Io, SessionSummary } from '@cordage/core/store'
import { placeFile } from './io.ts'
import { entryOf, listSessions } from './listing.ts'
import { leasePath, type JsonlStoreOptions } from './options.ts'
import { Reach } from './reach.ts'
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
  const reach = new Reach()
  if ((await io.stat(root)) && (await isDue(io, root, wanted))) {
    if (!dryRun) await emptyTrash(io, root, reach)
    swept.push(...(await sweepDrafts(io, root, { dryRun, reach })))
    const listed = await listSessions(options, { children: true, archived: true })
    for (const { seen, ...doomed } of await choose(options, listed, { ...wanted, reach })) {
      if (signal?.aborted) break
      const path = join(root, doomed.id)
      if (await reach.to(path, () => remove(options, seen, dryRun))) sessions.push(doomed)
    }
    const gone = new Set(sessions.map(({ id }) => id))
    const sweep = { asideBefore: Date.now() - asideDays * dayMs, blobs, dryRun }
    for (const { header } of listed.filter(({ header }) => !gone.has(header.id))) {
      if (signal?.aborted) break
      const { id } = header
      swept.push(
        ...((await reach.to(join(root, id), () => sweepSession(options, id, sweep))) ?? []),
      )
    }
  }
  const count = (kind: Swept['kind']) => swept.filter((one) => one.kind === kind).length
  const bytes = [...sessions, ...swept].reduce((sum, one) => sum + one.bytes, 0)
  const left = { blobs: count('blobs'), aside: count('aside'), leftovers: count('leftovers') }
  return { sessions, ...left, bytes, refused: [...new Set(reach.refused)] }
}

async function isDue(io: Io, root: string, { everyMs, dryRun }: CollectOptions): Promise<boolean> {
  const marker = join(root, markerName)
  const last = (await io.stat(marker))?.mtimeMs ?? -Infinity
  if (everyMs !== undefined && isWithin(last, everyMs)) return false
  if (dryRun !== true) await placeFile(io, marker, new Uint8Array())
  return true
}

/** Oldest first. What is damaged is never chosen: somebody may want to save what is left of it. */
async function choose(
  { io, directory: root }: JsonlStoreOptions,
  listed: readonly SessionSummary[],
  wanted: CollectOptions & { readonly reach: Reach },
): Promise<readonly Chosen[]> {
  const { maxAgeDays = Infinity, maxTotalBytes = Infinity, keepArchived = false, reach } = wanted
  const doomed: Chosen[] = []
  if (maxAgeDays === Infinity && maxTotalBytes === Infinity) return doomed
  const sizes = new Map<string, number>()
  for (const { header } of listed) {
    const path = join(root, header.id)
    const bytes = await reach.to(path, () => folderBytes(io, path))
    if (bytes !== undefined) sizes.set(header.id, bytes)
  }
  let total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  const oldest = Date.now() - maxAgeDays * dayMs
  for (const seen of listed.toReversed()) {
    const { header, updatedAt, damaged, archived, busy } = seen
    // Copies and broken clocks give files times from before there was anything to add.
    const tooOld = Math.max(updatedAt, header.createdAt) < oldest
    if (!tooOld && total <= maxTotalBytes) continue
    if (busy || damaged !== undefined || (keepArchived && archived)) continue
    const { id } = header
    const bytes = sizes.get(id)
    if (bytes === undefined) continue
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
async function sweepDrafts(
  io: Io,
  root: string,
  { dryRun, reach }: { readonly dryRun: boolean; readonly reach: Reach },
): Promise<readonly Swept[]> {
  const swept: Swept[] = []
  for (const { name } of await io.list(root)) {
    if (!name.startsWith('.new-') && !name.startsWith(`${markerName}.`)) continue
    const path = join(root, name)
    await reach.to(path, async () => {
      const stat = await io.stat(path)
      if (!stat || isWithin(stat.mtimeMs, draftMs)) return
      if (stat.kind === 'directory' && (await io.locked(leasePath(path)))) return
      const bytes = await folderBytes(io, path)
      if (!dryRun) await io.remove(path)
      swept.push({ kind: 'leftovers', path, bytes })
    })
  }
  return swept
}

/** Less than `ms` ago, or ahead: what is far ahead is of a clock that was wrong. */
function isWithin(time: number, ms: number): boolean {
  return Math.abs(Date.now() - time) < ms
}
