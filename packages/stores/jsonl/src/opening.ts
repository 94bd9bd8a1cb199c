import { isHarnessError } from '@cordage/core/error'
import { sessionError } from '@cordage/core/session'
import { type Io, type IoLock, type SessionLog, storeError } from '@cordage/core/store'
import { type Ragged, setAside } from './aside.ts'
import { claimNext, type Claim } from './claim.ts'
import { flushPast } from './durable.ts'
import { openLane, readLive } from './live-lane.ts'
import { JsonlLog, type Opened } from './log.ts'
import { errorCode } from './io.ts'
import { settleLog } from './log-folder.ts'
import { formatSteps } from './format-steps.ts'
import { migrateLog } from './migrate.ts'
import { OpenSegment } from './open-segment.ts'
import { leasePath, type JsonlStoreOptions } from './options.ts'
import { type Past, raggedOf, readPast } from './past.ts'
import { openSegments, SegmentReader } from './segment.ts'
import { writing } from './system-error.ts'
import { Writer, type WriterOptions } from './writer.ts'

export async function openToRead(
  { io, steps = formatSteps }: JsonlStoreOptions,
  id: string,
  directory: string,
): Promise<SessionLog> {
  const look = async () => readPast(await openSegments(io, directory, id, { steps }), id)
  const first = await look()
  // Or half of it was read of the log that was there before it was written anew.
  const past = first.damage === undefined ? first : await look()
  const live = await readLive(io, directory)
  // Where there is an owner, a batch that is not whole yet is being written just now.
  const busy = past.torn.length > 0 && (await io.locked(leasePath(directory)))
  const torn = busy ? [] : past.torn.map(({ reason }) => `${sentence(reason)}.`)
  const damage = past.damage === undefined ? [] : [damageNotice(past)]
  const notices = [...past.notices, ...torn, ...damage]
  return new JsonlLog({ io, directory, steps }, { ...past, live, notices })
}

function damageNotice({ damage, next }: Past): string {
  return `Damaged: ${damage}. The facts before number ${next} are shown; the rest is untouched.`
}

interface OpenRequest {
  readonly id: string
  readonly directory: string
  readonly takeOver: boolean
}

export async function openToWrite(
  options: JsonlStoreOptions,
  request: OpenRequest,
): Promise<Opened> {
  const { id, directory, takeOver } = request
  const lock = await options.io.lock(leasePath(directory), takeOver)
  if (!lock) throw sessionError('SESSION_BUSY', { id })
  try {
    await writing(id, () => settleLog(options.io, directory))
    await writing(id, () => migrateLog(options, { id, directory, lock }))
    for (let attempt = 1; ; attempt++) {
      try {
        return await claimAndOpen(options, request, lock)
      } catch (error) {
        // Another one that was taking over claimed too, only to find that the lease is ours; or
        // who owned the log has just closed it, and removed a segment that it never wrote to.
        const retry = isHarnessError(error, 'STORE_FENCED') || errorCode(error) === 'ENOENT'
        if (!retry || !(await lock.current()) || attempt === 5) throw error
      }
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function claimAndOpen(
  options: JsonlStoreOptions,
  { id, directory }: OpenRequest,
  lock: IoLock,
): Promise<Opened> {
  const { io, steps = formatSteps } = options
  const claim = await writing(id, () => claimNext(options, directory, lock))
  try {
    // Whoever replaced the lease meanwhile has claimed a later segment, or will.
    if (!claim || !(await lock.current())) throw sessionError('SESSION_BUSY', { id })
    const past = await readPast(new SegmentReader(io, id, claim.before), id)
    if (past.damage !== undefined) {
      throw storeError('STORE_DAMAGED', { id, reason: `${past.damage}; it can be read` })
    }
    const unsealed = claim.before.filter((file) =>
      past.unsealed.some((seal) => seal.segment === file.number),
    )
    await writing(id, () => flushPast(io, directory, unsealed))
    const live = await readLive(io, directory)
    const notices = [...past.notices, ...(await keepTorn(io, directory, past))]
    const writer = writerAfter(past, claim, {
      ...options,
      header: past.header,
      directory,
      isOwner: () => lock.current(),
    })
    // At once, so that nothing which the old owner still writes can count.
    if (lock.takenOver) await writer.append([], { sync: true })
    const lane = await openLane(io, directory, lock.takenOver)
    const start = { ...past, live, notices }
    return (onClose) =>
      new JsonlLog({ io, directory, steps }, start, { writer, lane, lock, onClose })
  } catch (error) {
    await claim?.file.close()
    // Where an owner may still run into it, the fence has to stay.
    const removable = claim?.created && !lock.takenOver && (await lock.current())
    if (removable) await io.remove(claim.path)
    throw error
  }
}

function writerAfter(past: Past, claim: Claim, options: WriterOptions): Writer {
  const segment = new OpenSegment(claim.number, claim.file, past.next)
  const torn = past.torn.map(raggedOf)
  const empty = past.unsealed.filter(({ bytes }) => bytes === 0).map(({ segment }) => segment)
  const rest = claim.before.filter((file) => {
    return empty.includes(file.number) && !torn.some((one) => one.file.number === file.number)
  })
  const ragged = [...torn, ...rest.map((file): Ragged => ({ file, from: 0 }))]
  return new Writer(options, segment, { seals: past.unsealed, ragged })
}

async function keepTorn(io: Io, directory: string, past: Past): Promise<string[]> {
  const notices: string[] = []
  for (const torn of past.torn) {
    const { path } = torn.segment.file
    const aside = await setAside(io, directory, raggedOf(torn)).catch(() => path)
    notices.push(`${sentence(torn.reason)}, and are kept in ${aside}.`)
  }
  return notices
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
