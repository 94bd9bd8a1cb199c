import {
  imageSize,
  type ImagePart,
  type Message,
  type Source,
  type TextPart,
} from '@cordage/core/message'
import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  compactionEnd,
  compactionStart,
  compactionSummary,
  sessionTitle,
  stepEnd,
  stepStart,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  userMessage,
  type SurfaceEntry,
  type TurnEndReason,
} from '@cordage/core/session'
import type {
  AnswerEntry,
  EntryImage,
  EntryText,
  FailedEntry,
  ImportFormat,
  ResultEntry,
  SummaryEntry,
  TimedEntry,
  UserEntry,
} from './entry.ts'
import type { LeftBehind } from './left-behind.ts'
import { PendingStep, type PendingCall } from './pending-step.ts'
import type { SessionWriter } from './session-writer.ts'

const IMAGE = /^image\/[\w.+-]{1,60}$/
const TITLE_CHARS = 60

/**
 * Makes facts of the entries of a transcript: turns from what people say, a step for each answer,
 * and for each call exactly one result. Whatever is missing for that is added and told.
 */
export class Weaver {
  readonly #writer: SessionWriter
  readonly #from: ImportFormat
  readonly #left: LeftBehind
  readonly #seqOf = new Map<string, number>()
  readonly #callIds = new Set<string>()
  #entering: UserEntry[] = []
  #failed: FailedEntry[] = []
  #pending: PendingStep | undefined
  #turn = 0
  #step = 0
  #open = false
  #unanswered = false
  #messages = 0
  #title: string | undefined

  constructor(writer: SessionWriter, from: ImportFormat, left: LeftBehind) {
    this.#writer = writer
    this.#from = from
    this.#left = left
  }

  get turns(): number {
    return this.#turn
  }

  get messages(): number {
    return this.#messages
  }

  async add(entry: TimedEntry): Promise<void> {
    switch (entry.kind) {
      case 'user':
        return this.#addUser(entry)
      case 'answer':
        return this.#addAnswer(entry)
      case 'result':
        return this.#addResult(entry)
      case 'usage':
        return this.#pending?.setUsage(entry.usage)
      case 'failed':
        await this.#flushStep()
        this.#failed.push(entry)
        return undefined
      case 'summary':
        return this.#addSummary(entry)
      case 'title':
        return this.#addTitle(entry.title, entry.by, entry.time)
      case 'end':
        return this.#endTurn(entry.reason, entry.time)
    }
  }

  /** Closes whatever the transcript left open. */
  async end(): Promise<void> {
    const waits = this.#entering.length > 0 || this.#failed.length > 0
    const cut = this.#pending?.lacksResults ?? waits
    await this.#endTurn(cut ? 'interrupted' : 'completed', undefined)
  }

  async #addUser(entry: UserEntry): Promise<void> {
    await this.#flushStep()
    const joins = entry.joins === true || entry.form !== undefined
    const hasWorked = this.#step > 0 || this.#failed.length > 0
    if (this.#open && hasWorked && !joins) await this.#endTurn('completed', entry.time)
    this.#entering.push(entry)
  }

  async #addAnswer(entry: AnswerEntry): Promise<void> {
    if (entry.key !== undefined && this.#pending?.key === entry.key) {
      return this.#pending.extend(entry)
    }
    await this.#flushStep()
    this.#pending = new PendingStep(entry, (id) => this.#freshCallId(id))
  }

  #addResult(entry: ResultEntry): void {
    if (this.#pending?.answer(entry)) return
    this.#left.add('results without a call', entry.callId || '(no id)')
  }

  #freshCallId(id: string): string {
    let fresh = id
    for (let count = 2; fresh === '' || this.#callIds.has(fresh); count++) {
      fresh = `${id || 'call'}-${count}`
    }
    this.#callIds.add(fresh)
    return fresh
  }

  /** Everything that was held back of a step, in the order in which our loop logs it. */
  async #flushStep(): Promise<void> {
    const pending = this.#pending
    this.#pending = undefined
    if (pending) await this.#writeStep(pending)
  }

  async #writeStep(pending: PendingStep | undefined): Promise<void> {
    const entering = this.#entering
    const failed = this.#failed
    this.#entering = []
    this.#failed = []
    const begun = entering[0]?.time ?? failed[0]?.time ?? pending?.time
    if (!this.#open) {
      this.#turn += 1
      this.#step = 0
      this.#open = true
      this.#unanswered = false
      this.#writer.add(turnStart({ turn: this.#turn }), begun)
    }
    this.#step += 1
    const place = { turn: this.#turn, step: this.#step }
    this.#writer.add(stepStart(place), begun)
    for (const entry of entering) await this.#writeUser(entry)
    failed.forEach((entry, index) => this.#writeFailed(entry, index + 1))
    if (pending) await this.#writeAnswer(pending, failed.length + 1)
    this.#writer.add(stepEnd(place), undefined)
  }

  async #writeUser(entry: UserEntry): Promise<void> {
    const { time, mark, form, parts } = entry
    const row = `import-${this.#from}`
    const source: Source = form === undefined ? { kind: 'user' } : { kind: 'plugin', row, form }
    const message: Message = {
      id: this.#messageId(),
      role: 'user',
      content: await this.#content(parts),
      source,
    }
    this.#note(mark, this.#writer.add(userMessage({ message }), time))
    // At once, as our own sessions have it: lists read no further than the beginning of a log.
    if (form === undefined && this.#title === undefined) await this.#nameByWords(entry)
  }

  #writeFailed({ time, code, message, partial }: FailedEntry, attempt: number): void {
    const place = { turn: this.#turn, step: this.#step, attempt }
    this.#writer.add(attemptStart(place), time)
    const error = { code, message, retryable: true }
    this.#writer.add(
      attemptFailed({ ...place, error, ...(partial === undefined ? {} : { partial }) }),
      time,
    )
  }

  async #writeAnswer(pending: PendingStep, attempt: number): Promise<void> {
    const place = { turn: this.#turn, step: this.#step }
    this.#writer.add(attemptStart({ ...place, attempt }), undefined)
    const { provider, model, usage, costUsd, interrupted, finish } = pending
    const message: Message = {
      id: this.#messageId(),
      role: 'assistant',
      content: pending.content,
      source: { kind: 'model', provider, model },
    }
    const facts = {
      finish,
      ...(usage === undefined ? {} : { usage }),
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(interrupted ? { interrupted } : {}),
    }
    const answer = assistantMessage({ ...place, attempt, message, ...facts })
    const seq = this.#writer.add(answer, pending.time)
    for (const mark of pending.marks) this.#note(mark, seq)
    for (const { id, name, arguments: given } of pending.calls) {
      const call = { ...place, callId: id, name, arguments: given }
      this.#writer.add(toolCall(call), pending.time)
    }
    for (const { call, result } of pending.results) await this.#writeResult(call, result)
    for (const call of pending.unanswered) this.#writeUnknown(call)
    this.#unanswered ||= pending.lacksResults
  }

  async #writeResult({ id, name }: PendingCall, result: ResultEntry): Promise<void> {
    const { time, mark, isError, durationMs, parts } = result
    const content = await this.#content(parts)
    const part = { type: 'tool-result', callId: id, name, content, isError } as const
    const took = durationMs === undefined ? {} : { durationMs }
    const data = { ...this.#resultOf(id, name), part, ...took }
    this.#note(mark, this.#writer.add(toolResult(data), time))
  }

  #writeUnknown({ id, name }: PendingCall): void {
    const code = 'TOOL_OUTCOME_UNKNOWN'
    const message =
      `The transcript that was imported holds no result of this call of ${name}. Whether it took ` +
      'effect is unknown. Look at the present state before repeating it.'
    const content = [{ type: 'text' as const, text: `${code}: ${message}` }]
    const part = { type: 'tool-result', callId: id, name, content, isError: true } as const
    const data = { ...this.#resultOf(id, name), part, error: { code, message } }
    this.#writer.add(toolResult(data), undefined)
    this.#left.add('calls without a result', `${name} ${id}`)
  }

  #resultOf(callId: string, name: string) {
    return { turn: this.#turn, step: this.#step, callId, name, messageId: this.#messageId() }
  }

  async #endTurn(reason: TurnEndReason, time: number | undefined): Promise<void> {
    await this.#flushStep()
    if (this.#entering.length > 0 || this.#failed.length > 0) await this.#writeStep(undefined)
    if (!this.#open) return
    const ended = reason === 'completed' && this.#unanswered ? 'interrupted' : reason
    this.#writer.add(turnEnd({ turn: this.#turn, reason: ended }), time)
    this.#open = false
    this.#step = 0
  }

  async #addSummary({ time, text, mark, ...bounds }: SummaryEntry): Promise<void> {
    await this.#flushStep()
    const range = this.#summarised(await this.#writer.surface(), bounds)
    const [first, last] = [range[0], range.at(-1)]
    if (!first || !last) return this.#left.add('summaries of nothing', text)
    const id = `${this.#from}-${this.#writer.facts}`
    const source = { kind: 'plugin', row: `import-${this.#from}`, form: 'summary' } as const
    const content = [{ type: 'text', text } as const]
    const message: Message = { id: this.#messageId(), role: 'user', content, source }
    this.#writer.add(compactionStart({ id }), time)
    const summary = { id, range: { from: first.seq, to: last.seq }, message }
    this.#note(mark, this.#writer.add(compactionSummary(summary), time))
    this.#writer.add(compactionEnd({ id }), time)
  }

  /** What a summary stands for. A result is kept with its call. */
  #summarised(
    surface: readonly SurfaceEntry[],
    { keepFrom, last }: Pick<SummaryEntry, 'keepFrom' | 'last'>,
  ): readonly SurfaceEntry[] {
    const bound = this.#seqOf.get(keepFrom ?? last ?? '')
    const at = surface.findIndex(({ seq }) => seq === bound)
    if (at < 0) return surface
    let kept = keepFrom === undefined ? at + 1 : at
    while (surface[kept]?.message.role === 'tool') kept -= 1
    return surface.slice(0, kept)
  }

  async #nameByWords(entry: UserEntry): Promise<void> {
    const title = wordsOf(entry)
    if (title === undefined) return
    this.#title = title
    this.#writer.add(sessionTitle({ title, by: 'first-words' }), entry.time)
    await this.#writer.flush()
  }

  #addTitle(given: string, by: 'user' | 'model', time: number | undefined): void {
    const title = given.trim().replaceAll(/\s+/g, ' ').slice(0, 200)
    if (title === '' || title === this.#title) return
    this.#title = title
    this.#writer.add(sessionTitle({ title, by }), time)
  }

  async #content(parts: readonly (EntryText | EntryImage)[]): Promise<(TextPart | ImagePart)[]> {
    const content: (TextPart | ImagePart)[] = []
    for (const part of parts) {
      if (part.type === 'text') content.push({ type: 'text', text: part.text })
      else content.push((await this.#image(part)) ?? { type: 'text', text: '[an image]' })
    }
    return content
  }

  async #image({ mediaType, base64 }: EntryImage): Promise<ImagePart | undefined> {
    const bytes = Buffer.from(base64, 'base64')
    if (bytes.length === 0 || !IMAGE.test(mediaType)) {
      this.#left.add('images that are none', mediaType)
      return undefined
    }
    const hash = await this.#writer.putBlob(bytes)
    const blob = { hash, bytes: bytes.length, mediaType, ...imageSize(bytes) }
    return { type: 'image', blob }
  }

  #messageId(): string {
    this.#messages += 1
    return `imported-${this.#messages}`
  }

  #note(mark: string | undefined, seq: number): void {
    if (mark !== undefined) this.#seqOf.set(mark, seq)
  }
}

function wordsOf({ parts }: UserEntry): string | undefined {
  const text = parts.find((part) => part.type === 'text')?.text ?? ''
  const line = text.slice(0, 1000).trim().replaceAll(/\s+/g, ' ')
  if (line === '') return undefined
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS - 1)}…` : line
}
