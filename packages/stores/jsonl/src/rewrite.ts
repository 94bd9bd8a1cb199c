import { join } from 'node:path'
import { assert } from '@cordage/core/kernel'
import { sessionError, type Fact, type SessionHeader } from '@cordage/core/session'
import { storeError, type Io, type IoLock, type Snapshot } from '@cordage/core/store'
import { readFacts } from './facts.ts'
import { closingOnFailure } from './io.ts'
import { draftName } from './log-folder.ts'
import { createSegment, OpenSegment } from './open-segment.ts'
import type { JsonlStoreOptions } from './options.ts'
import { readPast } from './past.ts'
import { openSegments } from './segment.ts'
import { Writer } from './writer.ts'

/** What a rewritten log holds. `facts` begins with fact 0 and is read twice. */
export interface LogContents {
  readonly header: SessionHeader
  readonly facts: () => AsyncIterable<Fact>
  readonly snapshot?: Snapshot | undefined
}

/** The session whose log is rewritten by the owner of its lease. */
export interface RewrittenPlace {
  readonly directory: string
  readonly lock: IoLock
  /** What the old log is called from then on; a number follows where that name is taken. */
  readonly keepAs: string
}

const maxBatchFacts = 500
const maxBatchLength = 1024 * 1024

/**
 * Writes `contents` as a whole log beside the one that is there, reads it back, and only then puts
 * it in that one's place. Returns where the old log is kept. Nothing is lost wherever this ends:
 * see `settleLog`. Nothing may be open on the log meanwhile.
 */
export async function rewriteLog(
  options: JsonlStoreOptions,
  { directory, lock, keepAs }: RewrittenPlace,
  contents: LogContents,
): Promise<string> {
  const { io } = options
  const { id } = contents.header
  const draft = join(directory, draftName)
  await io.remove(draft)
  await io.makeDirectory(join(draft, 'log'))
  await writeLog(options, draft, contents)
  await io.syncDirectory(join(draft, 'log'))
  await io.syncDirectory(draft)
  await io.syncDirectory(directory)
  await expectSame(io, draft, contents)
  const kept = await freeName(io, join(directory, keepAs))
  if (!(await lock.current())) throw sessionError('SESSION_BUSY', { id })
  const log = join(directory, 'log')
  await io.rename(log, kept)
  try {
    await io.rename(join(draft, 'log'), log)
  } catch (error) {
    // Who took the session over meanwhile has removed the draft: its log is the one that counts.
    await io.rename(kept, log)
    throw error
  }
  await io.syncDirectory(directory)
  await io.remove(draft)
  return kept
}

async function writeLog(
  options: JsonlStoreOptions,
  directory: string,
  { header, facts, snapshot }: LogContents,
): Promise<void> {
  const { io, compression: encoding } = options
  const file = await createSegment(io, directory, { number: 1, encoding })
  assert(file, `the fresh folder ${directory} already holds a segment`)
  const segment = new OpenSegment(1, file, 0)
  const writer = new Writer({ ...options, header, directory }, segment, { seals: [], ragged: [] })
  await closingOnFailure(writer, () => writeFacts(writer, facts(), snapshot))
  await writer.close()
}

/** Appends all of `facts`, and `snapshot` in its place among them, in few large batches. */
export async function writeFacts(
  writer: Writer,
  facts: AsyncIterable<Fact>,
  snapshot?: Snapshot,
): Promise<void> {
  let batch: Fact[] = []
  let length = 0
  let given = false
  const write = async () => {
    const before = !given && snapshot && batch[0]?.seq === snapshot.seq ? { snapshot } : {}
    given ||= 'snapshot' in before
    if (batch.length > 0) await writer.append(batch, { sync: false, ...before })
    batch = []
    length = 0
  }
  for await (const fact of facts) {
    if (fact.seq === snapshot?.seq) await write()
    batch.push(fact)
    length += JSON.stringify(fact).length
    if (batch.length === maxBatchFacts || length >= maxBatchLength) await write()
  }
  await write()
  await writer.append([], { sync: true, ...(snapshot && !given ? { snapshot } : {}) })
}

async function expectSame(io: Io, draft: string, contents: LogContents): Promise<void> {
  const { id } = contents.header
  const reader = await openSegments(io, draft, id)
  const written = readFacts(reader, id, 0)[Symbol.asyncIterator]()
  const differs = (reason: string) =>
    storeError('STORE_WRITE_FAILED', { id, reason: `its rewritten log ${reason}` })
  for await (const fact of contents.facts()) {
    const { value } = await written.next()
    if (JSON.stringify(value) !== JSON.stringify(fact)) throw differs(`differs at ${fact.seq}`)
  }
  if (!(await written.next()).done) throw differs('is longer')
  const { header, snapshot } = await readPast(await openSegments(io, draft, id), id)
  const same =
    JSON.stringify([header, snapshot]) === JSON.stringify([contents.header, contents.snapshot])
  if (!same) throw differs('has another beginning')
}

async function freeName(io: Io, path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`
    if (!(await io.stat(name))) return name
  }
}
