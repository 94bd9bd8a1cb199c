import { join } from 'node:path'
import { isHarnessError } from '@cordage/core/error'
import type { Io, IoKind } from '@cordage/core/store'
import { readFacts } from './facts.ts'
import { formatSteps } from './format-steps.ts'
import { errorCode, readWhole } from './io.ts'
import { draftName, settleLog } from './log-folder.ts'
import { leasePath, type JsonlStoreOptions } from './options.ts'
import { packedName } from './pack.ts'
import { openSegments } from './segment.ts'

export interface SweepOptions {
  /** Bytes that were set aside before this moment go. */
  readonly asideBefore: number
  readonly blobs: boolean
  readonly dryRun: boolean
}

/** What a session's folder held that no session needs: each thing with its size. */
export interface Swept {
  readonly kind: 'blobs' | 'aside' | 'leftovers'
  readonly path: string
  readonly bytes: number
}

const blobName = /[0-9a-f]{64}/g
/** A taker's draft of the lease may be in use for as long. */
const takingMs = 3_600_000
/** Blobs of up to this size are looked through for names of others. */
const maxIndexBytes = 1024 * 1024

/** Removes what a dead owner left behind in a session's folder, unless a live one has it. */
export async function sweepSession(
  options: JsonlStoreOptions,
  id: string,
  sweep: SweepOptions,
): Promise<readonly Swept[]> {
  const { io } = options
  const directory = join(options.directory, id)
  // Most sessions have nothing to sweep, and a lease costs more than this look.
  if ((await candidates(options, id, sweep)).length === 0) return []
  if (sweep.dryRun) return unused(options, id, sweep)
  const lock = await io.lock(leasePath(directory), false)
  if (!lock) return []
  try {
    await settleLog(io, directory)
    // Looked for again: whoever owned it meanwhile may have put its things to use.
    const swept = await unused(options, id, sweep)
    for (const { path } of swept) await io.remove(path)
    return swept
  } finally {
    await lock.release()
  }
}

async function unused(
  options: JsonlStoreOptions,
  id: string,
  sweep: SweepOptions,
): Promise<Swept[]> {
  const found = await candidates(options, id, sweep)
  const used = await usedBlobs(options, id, found)
  return found.filter(({ kind, path }) => kind !== 'blobs' || used?.has(nameOf(path)) === false)
}

async function candidates(
  { io, directory: root }: JsonlStoreOptions,
  id: string,
  { asideBefore, blobs }: SweepOptions,
): Promise<Swept[]> {
  const directory = join(root, id)
  const found: Swept[] = []
  const add = async (kind: Swept['kind'], path: string, before = Infinity) => {
    const stat = await io.stat(path)
    if (!stat || stat.mtimeMs >= before) return
    const bytes = stat.kind === 'directory' ? await folderBytes(io, path) : stat.size
    found.push({ kind, path, bytes })
  }
  for (const { name, kind } of await list(io, directory)) {
    const path = join(directory, name)
    if (name.startsWith('lease.db.')) await add('leftovers', path, Date.now() - takingMs)
    else if (name.endsWith('.tmp')) await add('leftovers', path)
    else if (kind === 'directory' && isOldLog(name)) await add('leftovers', path)
  }
  for (const { name } of await list(io, join(directory, 'blobs'))) {
    const path = join(directory, 'blobs', name)
    if (name.endsWith('.tmp')) await add('leftovers', path)
    else if (blobs && new RegExp(`^${blobName.source}$`).test(name)) await add('blobs', path)
  }
  for (const { name } of await list(io, join(directory, 'aside'))) {
    const path = join(directory, 'aside', name)
    if (name.endsWith('.tmp')) await add('leftovers', path)
    else await add('aside', path, asideBefore)
  }
  return found
}

/** A log that was packed, or a draft of one, whose end somebody did not live to see. */
function isOldLog(name: string): boolean {
  return name === draftName || name.startsWith(packedName)
}

/**
 * Which of the blobs among `found` any fact names, or a blob that one names; `undefined` where
 * not every fact can be read.
 */
async function usedBlobs(
  { io, directory: root, steps = formatSteps }: JsonlStoreOptions,
  id: string,
  found: readonly Swept[],
): Promise<ReadonlySet<string> | undefined> {
  const sizes = new Map(
    found.filter(({ kind }) => kind === 'blobs').map(({ path, bytes }) => [nameOf(path), bytes]),
  )
  const used = new Set<string>()
  if (sizes.size === 0) return used
  const named: string[] = []
  const note = (text: string) => {
    for (const [name] of text.matchAll(blobName)) {
      if (!sizes.has(name) || used.has(name)) continue
      used.add(name)
      named.push(name)
    }
  }
  const directory = join(root, id)
  try {
    const reader = await openSegments(io, directory, id, { steps })
    for await (const fact of readFacts(reader, id, 0)) note(JSON.stringify(fact))
  } catch (error) {
    if (isHarnessError(error) || errorCode(error) !== undefined) return undefined
    throw error
  }
  for (let name = named.pop(); name !== undefined; name = named.pop()) {
    if ((sizes.get(name) ?? 0) > maxIndexBytes) continue
    note((await readWhole(io, join(directory, 'blobs', name))).toString('latin1'))
  }
  return used
}

function nameOf(path: string): string {
  return path.slice(-64)
}

/** The bytes of all files below a folder. */
export async function folderBytes(io: Io, path: string): Promise<number> {
  let bytes = 0
  for (const { name, kind } of await list(io, path)) {
    const inside = join(path, name)
    if (kind === 'directory') bytes += await folderBytes(io, inside)
    else bytes += (await io.stat(inside))?.size ?? 0
  }
  return bytes
}

async function list(io: Io, path: string): Promise<readonly { name: string; kind: IoKind }[]> {
  try {
    return await io.list(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return []
    throw error
  }
}
