import { join } from 'node:path'
import { assert } from '@cordage/core/kernel'
import { sessionError, type SessionHeader } from '@cordage/core/session'
import { checkSessionId, type Io, type IoLock, storeError } from '@cordage/core/store'
import { Batch } from './batch.ts'
import { makeFolder } from './durable.ts'
import { closingOnFailure, errorCode } from './io.ts'
import { openLane } from './live-lane.ts'
import { JsonlLog, type LogOwner, type LogStart, type Opened } from './log.ts'
import { createSegment, OpenSegment } from './open-segment.ts'
import { leasePath, type JsonlStoreOptions } from './options.ts'
import { listSegments } from './segment.ts'
import { StagedJsonlLog } from './staged-log.ts'
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
  const owner = await ownNew(options, { header, directory, segment })
  const place = { io, directory, steps: [] }
  return (onClose) => new JsonlLog(place, newStart(header), { ...owner, onClose })
}

/** As `createLog`, in a folder that gets its name when the log is published. */
export async function stageLog(
  options: JsonlStoreOptions,
  header: SessionHeader,
): Promise<(onClose: () => void) => StagedJsonlLog> {
  const { io, directory: root } = options
  const { id } = header
  checkSessionId(id)
  const directory = draftOf(root, id)
  const owner = await orRemove(io, directory, () =>
    writing(id, async () => {
      await makeFolder(io, root)
      await io.makeDirectory(join(directory, 'log'))
      const segment = await beginLog(options, header, directory)
      return ownNew(options, { header, directory, segment })
    }),
  )
  const staged = {
    remove: () => io.remove(directory),
    publish: () => nameFolder(options, id, directory),
  }
  const place = { io, directory, steps: [] }
  return (onClose) => new StagedJsonlLog(place, newStart(header), { ...owner, onClose }, staged)
}

function newStart(header: SessionHeader): LogStart {
  return { header, tail: [], live: [], notices: [] }
}

interface NewPlace {
  readonly header: SessionHeader
  readonly directory: string
  readonly segment: OpenSegment
}

async function ownNew(
  options: JsonlStoreOptions,
  { header, directory, segment }: NewPlace,
): Promise<Omit<LogOwner, 'onClose'>> {
  const { io } = options
  const { id } = header
  const lock = await closingOnFailure(segment, () => writing(id, () => leaseNew(io, id, directory)))
  const isOwner = () => lock.current()
  const writer = new Writer({ ...options, header, directory, isOwner }, segment, {
    seals: [],
    ragged: [],
  })
  return { writer, lane: await openLane(io, directory, false), lock }
}

/** The lease of a new session. As soon as it had its name, somebody else may have opened it. */
async function leaseNew(io: Io, id: string, directory: string): Promise<IoLock> {
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
  const draft = draftOf(root, id)
  return orRemove(io, draft, async () => {
    await makeFolder(io, root)
    await io.makeDirectory(join(draft, 'log'))
    const filled = await fill(draft)
    await closingOnFailure(filled, () => nameFolder({ io, directory: root }, id, draft))
    return filled
  })
}

function draftOf(root: string, id: string): string {
  return join(root, `.new-${id}-${Math.random().toString(36).slice(2, 10)}`)
}

/** Whether a folder is where session `id`, and not one with a longer id, was about to be made. */
export function isDraftOf(id: string, name: string): boolean {
  const start = `.new-${id}-`
  return name.startsWith(start) && /^[0-9a-z]*$/.test(name.slice(start.length))
}

/** Gives a draft the name of its session, once what is in it is on the disk. */
async function nameFolder(
  { io, directory: root }: Pick<JsonlStoreOptions, 'io' | 'directory'>,
  id: string,
  draft: string,
): Promise<void> {
  try {
    await io.syncDirectory(join(draft, 'log'))
    await io.syncDirectory(draft)
    await io.rename(draft, join(root, id))
    await io.syncDirectory(root)
  } catch (error) {
    const taken = errorCode(error) === 'ENOTEMPTY' || errorCode(error) === 'EEXIST'
    throw taken ? storeError('STORE_ID_TAKEN', { id, location: root }) : error
  }
}

async function orRemove<T>(io: Io, draft: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await io.remove(draft).catch(() => {
      // What is left of it begins with a dot, so that no list shows it.
    })
    throw error
  }
}
