import { textOf, toolCallsOf, type Message } from '../message/index.ts'
import { compactionPrune, compactionSummary } from './compaction-events.ts'
import type { Fact, FactOf } from './event.ts'
import { asText, mendCalls } from './mend-calls.ts'
import { reasoningDropped } from './request-events.ts'
import type { SurfaceEntry } from './surface.ts'
import { toolResult } from './tool-events.ts'
import { assistantMessage, contextMessage, systemMessage, userMessage } from './turn-events.ts'

/** JSON of a `SurfaceFold`, as a snapshot holds it. */
export interface SurfaceSnapshot {
  readonly entries: readonly SurfaceEntry[]
  readonly shadowedContexts: readonly string[]
  readonly batch: CallBatch | undefined
}

/** The calls of the last assistant message, and the `seq` of the result that each got. */
interface CallBatch {
  readonly seq: number
  readonly calls: readonly { readonly callId: string; readonly result?: number }[]
}

/** What the model sees, kept in order as facts come; a fact costs the same in any history. */
export class SurfaceFold {
  #entries: SurfaceEntry[]
  #frozen: readonly SurfaceEntry[] | undefined
  #shadowedContexts: readonly string[]
  #batch: CallBatch | undefined

  constructor(snapshot?: SurfaceSnapshot) {
    this.#entries = (snapshot?.entries ?? []).map((entry) => mended(entry))
    this.#shadowedContexts = Object.freeze([...(snapshot?.shadowedContexts ?? [])])
    this.#batch = snapshot?.batch
  }

  /** One frozen array for all readers, until the surface changes. */
  get entries(): readonly SurfaceEntry[] {
    return (this.#frozen ??= Object.freeze([...this.#entries]))
  }

  get shadowedContexts(): readonly string[] {
    return this.#shadowedContexts
  }

  add(fact: Fact): void {
    const { seq } = fact
    if (userMessage.is(fact)) this.#push({ seq, message: fact.data.message })
    else if (systemMessage.is(fact)) this.#addSystem(fact)
    else if (contextMessage.is(fact)) this.#addContext(fact)
    else if (assistantMessage.is(fact)) this.#addAssistant(fact)
    else if (toolResult.is(fact)) this.#addResult(fact)
    else if (reasoningDropped.is(fact)) this.#dropReasoning(fact)
  }

  /** Applies a staged fact of a compaction that has ended well. */
  compact(fact: Fact): void {
    if (compactionSummary.is(fact)) this.#summarise(fact)
    else if (compactionPrune.is(fact)) this.#prune(fact)
  }

  toJSON(): SurfaceSnapshot {
    return {
      entries: this.entries,
      shadowedContexts: this.#shadowedContexts,
      batch: this.#batch,
    }
  }

  #push(entry: SurfaceEntry): void {
    this.#insert(this.#entries.length, entry)
  }

  #insert(index: number, entry: SurfaceEntry): void {
    this.#frozen = undefined
    this.#entries.splice(index, 0, Object.freeze(entry))
  }

  /** In front it is the only version; after history the earlier ones stay, as the prefix must. */
  #addSystem({ seq, data }: FactOf<typeof systemMessage>): void {
    const { message, placement } = data
    const empty = textOf(message) === ''
    if (placement === 'in-history' && !empty) return this.#push({ seq, message })
    this.#entries = this.#entries.filter((entry) => entry.message.role !== 'system')
    this.#frozen = undefined
    if (!empty) this.#insert(0, { seq, message })
  }

  #addContext({ seq, data }: FactOf<typeof contextMessage>): void {
    const { message, id, stability } = data
    this.#push({ seq, message, contextId: id, ...(stability ? { stability } : {}) })
    if (!this.#shadowedContexts.includes(data.id)) return
    this.#shadowedContexts = Object.freeze(this.#shadowedContexts.filter((id) => id !== data.id))
  }

  #addAssistant({ seq, data }: FactOf<typeof assistantMessage>): void {
    const { turn, step, replay } = data
    const message = mendCalls(data.message)
    const calls = toolCallsOf(message).map(({ id }) => ({ callId: id }))
    this.#batch = calls.length > 0 ? { seq, calls } : undefined
    // Providers refuse an assistant message without content.
    if (message.content.length === 0) return
    const opaque = replay === undefined ? {} : { replay }
    this.#push({ seq, message, step: Object.freeze({ turn, step }), ...opaque })
  }

  /** Results without an open call (a late one, a second one) are facts, but the model has no use. */
  #addResult({ seq, data }: FactOf<typeof toolResult>): void {
    const batch = this.#batch
    if (!batch) return
    const order = batch.calls.findIndex(
      (call) => asText(call.callId) === data.callId && call.result === undefined,
    )
    const call = batch.calls[order]
    const asked = this.#entries.findLastIndex((entry) => entry.seq === batch.seq)
    if (!call || asked < 0) return
    const earlier = new Set(batch.calls.slice(0, order).map((call) => call.result))
    let index = asked + 1
    while (earlier.has(this.#entries[index]?.seq ?? -1)) index += 1
    const { turn, step } = data
    const message = resultMessage(data)
    this.#insert(index, { seq, message, step: Object.freeze({ turn, step }) })
    this.#batch = { seq: batch.seq, calls: batch.calls.with(order, { ...call, result: seq }) }
  }

  /** A message of nothing but reasoning goes whole: no provider takes one without content. */
  #dropReasoning({ data }: FactOf<typeof reasoningDropped>): void {
    this.#frozen = undefined
    this.#entries = this.#entries.flatMap((entry) => {
      const { source } = entry.message
      const own = source.kind === 'model' && isSameModel(source, data)
      return own ? withoutReasoning(entry) : [entry]
    })
  }

  #summarise({ seq, data }: FactOf<typeof compactionSummary>): void {
    const from = this.#entries.findIndex((entry) => entry.seq === data.range.from)
    const to = this.#entries.findIndex((entry) => entry.seq === data.range.to)
    if (from < 0 || to < from) return
    const inside = this.#entries.slice(from, to + 1)
    const effective = this.#entries.findLast((entry) => entry.message.role === 'system')
    const kept = inside.filter((entry) => entry === effective)
    const summary = Object.freeze({ seq, message: data.message })
    this.#shadowContexts(inside, this.#entries.slice(to + 1))
    this.#entries.splice(from, inside.length, summary, ...kept)
    this.#frozen = undefined
  }

  /** A contributor is not shadowed while a later snapshot of it stands. */
  #shadowContexts(gone: readonly SurfaceEntry[], after: readonly SurfaceEntry[]): void {
    const standing = new Set(after.map((entry) => entry.contextId))
    const shadowed = new Set(this.#shadowedContexts)
    for (const { contextId } of gone) {
      if (contextId !== undefined && !standing.has(contextId)) shadowed.add(contextId)
    }
    this.#shadowedContexts = Object.freeze([...shadowed])
  }

  #prune({ data }: FactOf<typeof compactionPrune>): void {
    const texts = new Map(data.replaced.map(({ seq, text }) => [seq, text]))
    this.#frozen = undefined
    this.#entries = this.#entries.map((entry) => {
      const text = texts.get(entry.seq)
      return text === undefined ? entry : pruned(entry, text)
    })
  }
}

function mended(entry: SurfaceEntry): SurfaceEntry {
  const message = mendCalls(entry.message)
  return message === entry.message ? entry : Object.freeze({ ...entry, message })
}

type ModelRef = { readonly provider: string; readonly model: string }

function isSameModel(one: ModelRef, other: ModelRef): boolean {
  return one.provider === other.provider && one.model === other.model
}

function withoutReasoning(whole: SurfaceEntry): SurfaceEntry[] {
  const { replay: _, ...entry } = whole
  const content = entry.message.content.filter((part) => part.type !== 'reasoning')
  if (content.length === 0) return []
  const message = Object.freeze({ ...entry.message, content: Object.freeze(content) })
  return [Object.freeze({ ...entry, message })]
}

function resultMessage(data: FactOf<typeof toolResult>['data']): Message {
  const source = Object.freeze({ kind: 'tool' as const, callId: data.callId })
  const content = Object.freeze([data.part])
  return Object.freeze({ id: data.messageId, role: 'tool', content, source })
}

function pruned(entry: SurfaceEntry, text: string): SurfaceEntry {
  const [part] = entry.message.content
  if (part?.type !== 'tool-result') return entry
  const content = Object.freeze([Object.freeze({ type: 'text' as const, text })])
  const result = Object.freeze({ ...part, content })
  const message = Object.freeze({ ...entry.message, content: Object.freeze([result]) })
  return Object.freeze({ ...entry, message })
}
