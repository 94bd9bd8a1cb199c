import type { Fact } from '@cordage/core/session'
import { storeError } from '@cordage/core/store'
import { type Encoding, formatVersion, type Frame } from './frame.ts'
import { stepsFrom } from './format-steps.ts'
import type { LoadedSegment, SegmentReader } from './segment.ts'
import { decompress, isBounded } from './zstd.ts'

/** How much is inflated at once; a single batch may be larger. */
const groupBytes = 1024 * 1024

/** The facts of `frames`, which lie in `segment` in this order, a group of batches at a time. */
export async function* factsOf(
  segment: LoadedSegment,
  frames: readonly Frame[],
): AsyncGenerator<readonly Fact[]> {
  let group: Frame[] = []
  let raw = 0
  for (const frame of frames) {
    if (group.length > 0 && raw + frame.meta.raw > groupBytes) {
      yield await decodeGroup(segment, group)
      group = []
      raw = 0
    }
    group.push(frame)
    raw += frame.meta.raw
  }
  if (group.length > 0) yield await decodeGroup(segment, group)
}

async function decodeGroup(segment: LoadedSegment, group: readonly Frame[]): Promise<Fact[]> {
  const text = await inflate(segment.bytes, group, segment.file.encoding)
  const facts: Fact[] = []
  for (const line of text.toString().split('\n')) {
    if (line !== '') facts.push(JSON.parse(line) as Fact)
  }
  const old = group.some(({ meta }) => meta.v < formatVersion)
  return old ? group.flatMap((frame) => migrated(segment, frame, facts)) : facts
}

/** The facts of one batch of those that were read, as the present format has them. */
function migrated(segment: LoadedSegment, { meta }: Frame, facts: readonly Fact[]): Fact[] {
  const own = facts.filter(({ seq }) => seq >= meta.from && seq < meta.to)
  const steps = stepsFrom(segment.steps, meta.v, meta.session)
  return own.map((fact) => steps.reduce((before, step) => step.fact(before), fact))
}

/** Verified payloads, inflated and joined. Throws `STORE_DAMAGED`. */
export async function inflate(
  bytes: Buffer,
  frames: readonly Frame[],
  encoding: Encoding,
): Promise<Buffer> {
  const payloads = frames.map((frame) => bytes.subarray(frame.payload, frame.payloadEnd))
  if (encoding === 'none') return Buffer.concat(payloads)
  const raw = frames.reduce((sum, frame) => sum + frame.meta.raw, 0)
  const bounded = frames.every((frame, index) => {
    return isBounded(payloads[index] as Buffer, frame.meta.raw)
  })
  const inflated = bounded ? await decompress(Buffer.concat(payloads)) : undefined
  if (inflated?.length === raw) return inflated
  const { session: id = '', segment = 0 } = frames[0]?.meta ?? {}
  throw storeError('STORE_DAMAGED', {
    id,
    reason: `segment ${segment} holds a batch that inflates to another size than it says`,
  })
}

/** All facts from `from` on. Damage throws `STORE_DAMAGED` after what lies before it. */
export async function* readFacts(
  reader: SegmentReader,
  id: string,
  from: number,
): AsyncGenerator<Fact> {
  let next: number | undefined
  for (const file of reader.files.slice(await firstWith(reader, from))) {
    const segment = await reader.load(file)
    const frames = segment.scan.frames.filter(({ meta }) => meta.kind === 'facts' && meta.to > from)
    const first = frames[0]?.meta.from
    if (first !== undefined && (next === undefined ? first > from : first !== next)) {
      const reason = `the facts before ${first} are not where segment ${file.number} expects them`
      throw storeError('STORE_DAMAGED', { id, reason })
    }
    for await (const group of factsOf(segment, frames)) {
      for (const fact of group) if (fact.seq >= from) yield fact
    }
    next = frames.at(-1)?.meta.to ?? next
    if (segment.damage) throw storeError('STORE_DAMAGED', { id, reason: segment.damage })
  }
}

/** The newest segment that begins at or before `from`: the ones before it need not be whole. */
async function firstWith(reader: SegmentReader, from: number): Promise<number> {
  for (let index = reader.files.length - 1; index > 0; index--) {
    const file = reader.files[index]
    const begin = file && (await reader.head(file))?.from
    if (begin !== undefined && begin <= from) return index
  }
  return 0
}
