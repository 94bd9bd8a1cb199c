import { join } from 'node:path'
import { assert } from '@cordage/core/kernel'
import { sessionError, type SessionHeader } from '@cordage/core/session'
import { checkSessionId, type Io, type IoLock, storeError } from '@cordage/core/store'
import { Batch } from './batch.ts'
import { makeFolder } from './durable.ts'
import { closingOnFailure, errorCode } from './io.ts'
import { openLane } from './live-lane.ts'
import { JsonlLog, type Opened } from './log.ts'
import { createSegment, OpenSegment } from './open-segment.ts'
import { leasePath, type JsonlStoreOptions } from './options.ts'
import { listSegments } from './segment.ts'
import { writing } from './system-error.ts'
import { Writer } from './writer.ts'

/** Throws `STORE_ID_INVALID`, `STORE_ID_TAKEN`, `STORE_WRITE_FAILED`. */
export async function createLog(
  options: JsonlStoreOptions,
  header: SessionHeader,
): Promise<Opened> {
  const { io, directory: location } = options
  const { id } = header
  checkSessionId(id)
  const directory = join(location, id)
  if (await writing(id, () => io.stat(directory)))
    throw storeError('STORE_ID_TAKEN', { id, location })
  const segment = await writing(id, () =>
    placeSession(options, id, (draft) => beginLog(options, header, draft)),
  )
  const lock = await closingOnFailure(segment, () => writing(id, () => ownNew(io, id, directory)))
  const isOwner = () => lock.current()
  const writer = new Writer({ ...options, header, directory, isOwner }, segment, {
    seals: [],
    ragged: [],
  })
  const lane = await openLane(io, directory, false)
  const start = { header, tail: [], live: [], notices: [] }
  return (onClose) =>
    new JsonlLog({ io, directory, steps: [] }, start, { writer, lane, lock, onClose })
}

/** The lease of a new session. As soon as it had its name, somebody else may have opened it. */
async function ownNew(io: Io, id: string, directory: string): Promise<IoLock> {
  const lock = await io.lock(leasePath(directory), false)
  if (!lock) throw sessionError('SESSION_BUSY', { id })
  try {
    if ((await listSegments(io, directory)).length > 1) throw sessionError('SESSION_BUSY', { id })
    return lock
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** The first segment, with the header in it. */
async function beginLog(
  { io, compression: encoding }: JsonlStoreOptions,
  header: SessionHeader,
  draft: string,
): Promise<OpenSegment> {
  const file = await createSegment(io, draft, { number: 1, encoding })
  assert(file, `the fresh folder ${draft} already holds a segment`)
  const segment = new OpenSegment(1, file, 0)
  await closingOnFailure(segment, async () => {
    const batch = new Batch({ session: header.id, segment: 1, encoding }, segment.good)
    await batch.header(header)
    await segment.write(batch.bytes, batch.check, batch.next)
    await segment.sync()
  })
  return segment
}

/**
 * The folder of a new session. It gets its name when all that `fill` puts into it is on the disk:
 * there is never half a session. Throws `STORE_ID_TAKEN`.
 */
export async function placeSession<T extends Pick<OpenSegment, 'close'>>(
  { io, directory: root }: JsonlStoreOptions,
  id: string,
  fill: (draft: string) => Promise<T>,
): Promise<T> {
  const draft = join(root, `.new-${id}-${Math.random().toString(36).slice(2, 10)}`)
  try {
    await makeFolder(io, root)
    await io.makeDirectory(join(draft, 'log'))
    const filled = await fill(draft)
    await closingOnFailure(filled, async () => {
      await io.syncDirectory(join(draft, 'log'))
      await io.syncDirectory(draft)
      await io.rename(draft, join(root, id))
      await io.syncDirectory(root)
    })
    return filled
  } catch (error) {
    await io.remove(draft).catch(() => {
      // What is left of it begins with a dot, so that no list shows it.
    })
    const taken = errorCode(error) === 'ENOTEMPTY' || errorCode(error) === 'EEXIST'
    if (taken) throw storeError('STORE_ID_TAKEN', { id, location: root })
    throw error
  }
}
