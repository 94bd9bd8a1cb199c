import { newId } from '../message/index.ts'
import {
  compactionPrune,
  compactionSummary,
  inboxSplice,
  deepFreeze,
  repairFacts,
  SessionFold,
  sessionSalvaged,
  type Fact,
  type NewFact,
  type Salvaged,
  type SessionHeader,
} from '../session/index.ts'
import type { Salvage, SessionLog, Store } from './store.ts'

const batchFacts = 500

/**
 * Writes what is left of session `from` into the session of `header`. Facts get new numbers and
 * keep their times; at each gap what was open is closed, so that the rest can be gone on with.
 */
export async function salvageSession(
  store: Store,
  from: string,
  header: (found: SessionHeader | undefined) => SessionHeader,
): Promise<Salvaged> {
  const salvage = await store.salvage(from)
  const log = await store.stage(header(salvage.header))
  try {
    const rewriter = new Rewriter(log)
    for await (const bytes of salvage.blobs) await log.putBlob(bytes)
    for await (const fact of salvage.facts) await rewriter.take(fact)
    const { facts } = rewriter
    const report = { from, facts, missing: missingIn(salvage), lostBlobs: salvage.lostBlobs }
    await rewriter.end(sessionSalvaged(report))
    await log.publish()
    return { id: log.header.id, ...report }
  } finally {
    await log.close()
  }
}

function missingIn({ missing }: Salvage): Salvaged['missing'] {
  return missing.map(({ from, to, reason }) => ({
    from,
    ...(to === undefined ? {} : { to }),
    reason,
  }))
}

/** Gives the facts that are left their new numbers. */
class Rewriter {
  facts = 0
  readonly #log: SessionLog
  readonly #fold = new SessionFold()
  /** Where the numbers shift: from which old one on, by how much. */
  readonly #shifts: { from: number; to: number; by: number }[] = []
  #batch: Fact[] = []
  #expected = 0
  #time = 0

  constructor(log: SessionLog) {
    this.#log = log
  }

  async take(fact: Fact): Promise<void> {
    if (fact.seq !== this.#expected) this.#closeWhatIsOpen()
    const shift = this.#shifts.at(-1)
    const by = this.#fold.nextSeq - fact.seq
    if (shift?.by === by) shift.to = fact.seq + 1
    else this.#shifts.push({ from: fact.seq, to: fact.seq + 1, by })
    this.#expected = fact.seq + 1
    this.#time = fact.time
    this.facts += 1
    this.#add(this.#renumbered(fact))
    if (this.#batch.length >= batchFacts) await this.#write(false)
  }

  async end(last: NewFact): Promise<void> {
    this.#addNew(last)
    await this.#write(true)
  }

  /** What the facts that are gone may have ended: nobody goes on with it as if they had not. */
  #closeWhatIsOpen(): void {
    const { turn, openCompactions, inbox } = this.#fold
    for (const fact of repairFacts({ turn, openCompactions, live: [], newId })) this.#addNew(fact)
    const reason = 'Facts after this was sent are lost: it may have been answered.'
    const held = inbox.map(({ message }) => ({ id: message.id, reason }))
    if (held.length > 0) this.#addNew(inboxSplice({ held, cause: 'hold' }))
  }

  #addNew({ type, v, data }: NewFact): void {
    this.#add({ seq: this.#fold.nextSeq, time: this.#time, type, v, data })
  }

  #add(fact: Fact): void {
    this.#fold.add(deepFreeze(fact))
    this.#batch.push(fact)
  }

  async #write(sync: boolean): Promise<void> {
    await this.#log.append(this.#batch, { sync })
    this.#batch = []
  }

  /** Compactions name other facts by number; one that is lost becomes a number that no fact has. */
  #renumbered(fact: Fact): Fact {
    const seq = this.#fold.nextSeq
    if (compactionSummary.is(fact)) {
      const { from, to } = fact.data.range
      const range = { ...fact.data.range, from: this.#newSeq(from), to: this.#newSeq(to) }
      return { ...fact, seq, data: { ...fact.data, range } }
    }
    if (compactionPrune.is(fact)) {
      const replaced = fact.data.replaced.map((one) => ({ ...one, seq: this.#newSeq(one.seq) }))
      return { ...fact, seq, data: { ...fact.data, replaced } }
    }
    return { ...fact, seq }
  }

  #newSeq(old: number): number {
    const shift = this.#shifts.find(({ from, to }) => old >= from && old < to)
    return shift ? old + shift.by : -1
  }
}
