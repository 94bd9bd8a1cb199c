import { createHash } from 'node:crypto'
import type { Target } from '@cordage/core/environment'
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
