import type { IoFile, IoLock } from '@cordage/core/store'
import { createSegment } from './open-segment.ts'
import type { JsonlStoreOptions } from './options.ts'
import { listSegments, type SegmentFile, segmentPath } from './segment.ts'

/** The segment that a new owner will write to, and those before it. */
export interface Claim {
  readonly number: number
  readonly path: string
  readonly file: IoFile
  readonly created: boolean
  readonly before: readonly SegmentFile[]
}

/** An empty newest segment was claimed by somebody who died; with the lease, it is ours. */
export async function claimNext(
  { io, compression: encoding }: JsonlStoreOptions,
  directory: string,
  lock: IoLock,
): Promise<Claim | undefined> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const files = await listSegments(io, directory)
    const newest = files.at(-1)
    const number = (newest?.number ?? 0) + 1
    const empty = newest && newest.number > 1 && (await io.stat(newest.path))?.size === 0
    if (newest && empty && newest.encoding === encoding && !lock.takenOver) {
      const file = await io.open(newest.path, 'write')
      const before = files.slice(0, -1)
      return { number: newest.number, path: newest.path, file, created: false, before }
    }
    const file = await createSegment(io, directory, { number, encoding })
    const path = segmentPath(directory, number, encoding)
    if (file) return { number, path, file, created: true, before: files }
  }
  return undefined
}
