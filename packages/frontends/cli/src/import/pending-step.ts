import type { ContentPart, Usage } from '@cordage/core/message'
import type { AnswerEntry, EntryCall, ResultEntry } from './entry.ts'

export interface PendingCall {
  /** Its own within the session. */
  readonly id: string
  /** What the transcript calls it. */
  readonly wireId: string
  readonly name: string
  readonly arguments: string
}

/** An answer and the results that have come to its calls: pieces of both may arrive mixed. */
export class PendingStep {
  readonly key: string | undefined
  readonly provider: string
  readonly model: string
  readonly marks: string[] = []
  readonly content: ContentPart[] = []
  readonly calls: PendingCall[] = []
  readonly results: { readonly call: PendingCall; readonly result: ResultEntry }[] = []
  usage: Usage | undefined
  costUsd: number | undefined
  interrupted = false
  time: number | undefined
  readonly #freshId: (id: string) => string
  readonly #answered = new Set<PendingCall>()
  #finish: string | undefined

  constructor(entry: AnswerEntry, freshId: (id: string) => string) {
    this.key = entry.key
    this.provider = entry.provider
    this.model = entry.model
    this.#freshId = freshId
    this.extend(entry)
  }

  get finish(): string {
    return this.#finish ?? (this.calls.length > 0 ? 'tool-calls' : 'stop')
  }

  get unanswered(): readonly PendingCall[] {
    return this.calls.filter((call) => !this.#answered.has(call))
  }

  get lacksResults(): boolean {
    return this.unanswered.length > 0
  }

  extend(entry: AnswerEntry): void {
    const { time, mark, usage, costUsd, finish, interrupted } = entry
    // An answer is there when its last piece is, unless results came in between.
    if (this.results.length === 0) this.time = time ?? this.time
    if (mark !== undefined) this.marks.push(mark)
    this.usage = usage ?? this.usage
    if (costUsd !== undefined) this.costUsd = (this.costUsd ?? 0) + costUsd
    this.#finish = finish ?? this.#finish
    this.interrupted ||= interrupted === true
    for (const part of entry.parts) {
      if (part.type === 'call') this.#addCall(part)
      else if (part.text !== '') this.content.push({ type: part.type, text: part.text })
    }
  }

  setUsage(usage: Usage): void {
    this.usage = usage
  }

  /** Whether one of its calls waited for this result. */
  answer(result: ResultEntry): boolean {
    const call = this.unanswered.find(({ wireId }) => wireId === result.callId)
    if (!call) return false
    this.#answered.add(call)
    this.results.push({ call, result })
    return true
  }

  #addCall({ id: wireId, name, arguments: given }: EntryCall): void {
    const id = this.#freshId(wireId)
    const call = { id, wireId, name, arguments: given }
    this.calls.push(call)
    const own = id === wireId ? {} : { wireId }
    this.content.push({ type: 'tool-call', id, name, arguments: given, ...own })
  }
}
