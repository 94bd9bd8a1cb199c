import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import type { FileSystem, Target } from '@cordage/core/environment'
import { isHarnessError } from '@cordage/core/error'
import type { Before } from './events.ts'

/** A file as it is: what is logged of it, its bytes where they may be kept, its version. */
export interface FileState {
  readonly before: Before
  readonly bytes?: Uint8Array
  readonly version?: string
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The hash of a state: `null` for no file, `undefined` where the bytes are not known. */
export function contentOf(before: Before): string | null | undefined {
  if (before === null) return null
  return 'hash' in before ? before.hash : undefined
}

/** Whether both are the same bytes with the same mode; `false` where any of that is not known. */
export function isSame(one: Before, other: Before): boolean {
  if (one === null || other === null) return one === other
  const content = contentOf(one)
  return content !== undefined && content === contentOf(other) && one.mode === other.mode
}

/** Reads a regular file of at most `maxBytes`; what else is there has no bytes to keep. */
export async function readState(
  file: Pick<Target, 'stat' | 'read'>,
  maxBytes: number,
): Promise<FileState> {
  const stat = await file.stat()
  if (!stat) return { before: null }
  const { mode, size, version } = stat
  const notKept = (reason: string) => ({ before: { bytes: size, mode, notKept: reason }, version })
  if (stat.kind !== 'file') return notKept(`it is a ${stat.kind}`)
  if (size > maxBytes) return notKept(`it has ${size} bytes, and at most ${maxBytes} are kept`)
  try {
    const { bytes, version: read } = await file.read()
    return { before: { hash: hashOf(bytes), mode }, bytes, version: read }
  } catch (error) {
    if (!isHarnessError(error) || error.code === 'TARGET_MOVED') throw error
    return notKept(error.message)
  }
}

/** Reads what is exactly at `path`. What is behind a symbolic link is none of the session's. */
export async function stateAt(fs: FileSystem, path: string, maxBytes: number): Promise<FileState> {
  try {
    const state = await exactState(fs, path, maxBytes)
    if (state) return state
    return (await leadsNowhere(fs, path)) ? outOfReach(LINK) : { before: null }
  } catch (error) {
    if (isHarnessError(error)) return outOfReach(error.message)
    throw error
  }
}

const LINK = 'it is a symbolic link, or behind one'

/** `undefined` where nothing is, not even a directory for it. */
async function exactState(
  fs: FileSystem,
  path: string,
  maxBytes: number,
): Promise<FileState | undefined> {
  try {
    await using target = await fs.target(path)
    if (target.path !== path) return outOfReach(LINK, target.path)
    return await readState(target, maxBytes)
  } catch (error) {
    if (isHarnessError(error, 'FILE_NOT_FOUND')) return undefined
    throw error
  }
}

function outOfReach(notKept: string, version = ''): FileState {
  return { before: { bytes: 0, mode: 0, notKept }, version }
}

/** Whether there is nothing at `path` only because a link on the way there leads to nothing. */
async function leadsNowhere(fs: FileSystem, path: string): Promise<boolean> {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    try {
      await using parent = await fs.target(dirname(at))
      const entries = await parent.list()
      const entry = entries.find(({ name }) => name === basename(at))
      return parent.path !== dirname(at) || entry?.kind === 'symlink'
    } catch (error) {
      if (!isHarnessError(error, 'FILE_NOT_FOUND')) throw error
    }
  }
  return false
}
