import {
  canonical,
  compactionPrune,
  compactionSummary,
  missingResults,
  repairFacts,
  type Fact,
  type NewFact,
  type SessionHeader,
} from '@cordage/core/session'
import { EXPORT_FORMAT } from '../export/jsonl.ts'
import { cordageLines } from './cordage-lines.ts'
import type { ImportPlace } from './import-place.ts'
import type { Imported } from './imported.ts'
import { importError } from './errors.ts'
import { DAMAGED, LeftBehind } from './left-behind.ts'
import { isImported, originFact } from './origin.ts'
import { SessionWriter } from './session-writer.ts'

/** What a first reading of an export finds. */
interface Survey {
  readonly header: SessionHeader
  readonly facts: number
  /** It has gaps, so that it cannot be taken as the session itself. */
  readonly broken: boolean
  /** How far it goes together with the session of its id that is here. */
  readonly here: 'none' | 'ahead' | 'behind' | 'differs'
}

/**
 * Brings an export of ours back: under its own id where it is whole and nothing else has that id,
 * equal to what it was. What is damaged comes under an id of its own, and is mended.
 */
export async function importCordage(
  place: ImportPlace,
  path: string,
  sha256: string,
): Promise<Imported> {
  const survey = await surveyOf(place, path)
  const { header } = survey
  const project = place.project ?? header.project
  const own = !survey.broken && survey.here !== 'differs'
  const id = own ? header.id : `${header.id.slice(0, 80)}-${sha256.slice(0, 12)}`
  const left = new LeftBehind()
  const about = { path, from: 'cordage', session: id, project, turns: 0, messages: 0 } as const
  const none = { ...about, facts: survey.facts, children: [], left: [], earlier: [] }
  if (own && survey.here === 'ahead') return { ...none, status: 'already' }
  if (!own && (await isImported(place, id, sha256))) return { ...none, status: 'already' }
  const writer =
    own && survey.here === 'behind'
      ? await SessionWriter.goOn(place.store, id)
      : await SessionWriter.create(place.store, { ...header, id, project })
  try {
    await (own ? writeAll(writer, path, left) : writeMended(writer, path, left))
    if (!own)
      writer.add(originFact({ from: 'cordage', session: header.id, path, sha256, left }), undefined)
    const { turn } = await writer.fold()
    await writer.close()
    return { ...none, turns: turn.turn, facts: writer.facts, left: left.kinds, status: 'imported' }
  } catch (error) {
    await writer.abandon()
    throw error
  }
}

async function surveyOf(place: ImportPlace, path: string): Promise<Survey> {
  const damage = new LeftBehind()
  let header: SessionHeader | undefined
  let comparison: Comparison | undefined
  let facts = 0
  let broken = false
  for await (const line of cordageLines(path, damage)) {
    if (line.kind === 'header' && !header) {
      if (line.format > EXPORT_FORMAT)
        throw importError('IMPORT_NEWER', { path, format: line.format })
      header = line.header
      comparison = await Comparison.with(place, header.id)
    } else if (line.kind === 'fact') {
      broken ||= line.fact.seq !== facts
      facts += 1
      await comparison?.next(line.fact)
    }
  }
  if (!header) throw importError('IMPORT_EMPTY', { path })
  const here = (await comparison?.end()) ?? 'none'
  return { header, facts, broken: broken || DAMAGED in damage.counts, here }
}

/** Facts of an export beside those of the session of the same id that is here. */
class Comparison {
  readonly #facts: AsyncIterator<Fact>
  readonly #close: () => Promise<void>
  #state: Survey['here'] = 'ahead'

  private constructor(facts: AsyncIterator<Fact>, close: () => Promise<void>) {
    this.#facts = facts
    this.#close = close
  }

  static async with({ store }: ImportPlace, id: string): Promise<Comparison | undefined> {
    const found = await store.list({ idPrefix: id, children: true, archived: true })
    if (!found.some(({ header }) => header.id === id)) return undefined
    const log = await store.open(id, { mode: 'read' })
    return new Comparison(log.read(0)[Symbol.asyncIterator](), () => log.close())
  }

  async next(fact: Fact): Promise<void> {
    if (this.#state !== 'ahead') return
    const { value, done } = await this.#facts.next()
    if (done) this.#state = 'behind'
    else if (canonical(value) !== canonical(fact)) this.#state = 'differs'
  }

  async end(): Promise<Survey['here']> {
    await this.#facts.return?.()
    await this.#close()
    return this.#state
  }
}

async function writeAll(writer: SessionWriter, path: string, left: LeftBehind): Promise<void> {
  let ended = false
  for await (const line of cordageLines(path, left)) {
    if (line.kind === 'blob') await writer.putBlob(line.bytes)
    if (line.kind === 'end') ended = line.facts === writer.facts
    if (line.kind !== 'fact' || line.fact.seq < writer.facts) continue
    const { type, v, data, time, ...rest } = line.fact
    writer.add({ ...rest, type, v, data }, time)
    await writer.settle(1000)
  }
  if (!ended) left.add('the end of the export', `it is cut off behind ${writer.facts} facts`)
}

async function writeMended(writer: SessionWriter, path: string, left: LeftBehind): Promise<void> {
  const places = new Map<number, number>()
  for await (const line of cordageLines(path, left)) {
    if (line.kind === 'blob') await writer.putBlob(line.bytes)
    if (line.kind !== 'fact') continue
    const { seq, time, type, v, data } = line.fact
    const fact = replaced({ type, v, data }, places)
    if (!fact) {
      left.add('compactions of what is missing', `fact ${seq}`)
      continue
    }
    if (closesCalls.has(type)) await answerOpenCalls(writer, left)
    places.set(seq, writer.add(fact, time))
    await writer.settle(1000)
  }
  await answerOpenCalls(writer, left)
  const { turn, openCompactions } = await writer.fold()
  const newId = () => `mended-${writer.facts}`
  for (const fact of repairFacts({ turn, openCompactions, live: [], newId }))
    writer.add(fact, undefined)
}

/** Behind these an answer's calls get no more results. */
const closesCalls = new Set(['step/start', 'step/end', 'turn/end', 'assistant/message'])

async function answerOpenCalls(writer: SessionWriter, left: LeftBehind): Promise<void> {
  const { turn } = await writer.fold()
  const facts = missingResults(
    turn,
    () => `mended-${writer.facts}`,
    (name) => {
      left.add('calls without a result', name)
      const message = `The result of this call of ${name} is missing from the export. Look at the present state before repeating it.`
      return { code: 'TOOL_OUTCOME_UNKNOWN', message }
    },
  )
  for (const fact of facts) writer.add(fact, undefined)
}

/** The fact with the places that the facts it speaks of have now. */
function replaced(fact: NewFact, places: ReadonlyMap<number, number>): NewFact | undefined {
  if (compactionSummary.is(fact)) {
    const { data } = fact as NewFact<Parameters<typeof compactionSummary>[0]>
    const [from, to] = [places.get(data.range.from), places.get(data.range.to)]
    if (from === undefined || to === undefined) return undefined
    return { ...fact, data: { ...data, range: { from, to } } }
  }
  if (compactionPrune.is(fact)) {
    const { data } = fact as NewFact<Parameters<typeof compactionPrune>[0]>
    const kept = data.replaced.flatMap((one) => {
      const seq = places.get(one.seq)
      return seq === undefined ? [] : [{ ...one, seq }]
    })
    return { ...fact, data: { ...data, replaced: kept } }
  }
  return fact
}
