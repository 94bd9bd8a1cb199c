import { newId, type ContentPart, type ToolCallPart, type Usage } from '../message/index.ts'
import { modelError } from './errors.ts'
import type { FinishReason, ModelEvent } from './event.ts'
import { readUsage } from './reported-usage.ts'
import { namesOnWire } from './wire-name.ts'

const MAX_CHARACTERS = 32 * 1024 * 1024

export interface Assembled {
  readonly content: readonly ContentPart[]
  /** Absent while none came: the answer is not whole, whatever it holds. */
  readonly finish: FinishReason | undefined
  readonly usage: Usage | undefined
  readonly replay: unknown
  /** Some text is not white space. */
  readonly hasText: boolean
  readonly hasReasoning: boolean
  /** The output limit cut the answer: the last tool call may be incomplete and must not run. */
  readonly truncated: boolean
}

export interface AssembleOptions {
  /** `<provider>/<model id>`, for messages. */
  readonly model?: string
  /** The tools of the request: their names may be others on the wire. */
  readonly tools?: readonly { readonly name: string }[]
  /** Says whether an id of a tool call is taken, by an earlier message of the session. */
  readonly isTaken?: (id: string) => boolean
  readonly newId?: () => string
}

interface TextDraft {
  readonly type: 'text' | 'reasoning'
  text: string
  replay?: unknown
}

interface CallDraft {
  readonly type: 'tool-call'
  readonly id: string
  wireId: string
  name: string
  arguments: string
}

type Draft = TextDraft | CallDraft

/** Puts the events of one attempt together into the content of an assistant message. */
export class Assembler {
  readonly #options: AssembleOptions
  readonly #drafts: Draft[] = []
  readonly #calls = new Map<number, CallDraft>()
  readonly #names: ReadonlyMap<string, string>
  #usage: Usage | undefined
  #finish: { reason: FinishReason; replay: unknown } | undefined
  #size = 0

  constructor(options: AssembleOptions) {
    this.#options = options
    this.#names = namesOnWire(options.tools ?? [])
  }

  /**
   * Throws `MALFORMED_RESPONSE` when the answer grows without bound, and for an event that is not
   * what its type says: an adapter passed on what it had not checked.
   */
  push(event: ModelEvent): void {
    this.#check(event)
    switch (event.type) {
      case 'text':
        this.#grow(event.text)
        return addText(this.#drafts, 'text', event.text)
      case 'reasoning':
        this.#grow(event.text)
        return addText(this.#drafts, 'reasoning', event.text, event.replay)
      case 'tool-call':
        this.#grow(`${event.name ?? ''}${event.arguments ?? ''}`)
        return addFragment(this.#calls.get(event.index) ?? this.#open(event), event)
      case 'usage':
        this.#usage = readUsage(event.usage) ?? this.#usage
        return
      case 'finish':
        this.#finish = { reason: event.reason, replay: event.replay }
    }
  }

  /** The call that an index names so far, for showing it while it arrives. */
  call(index: number): { readonly id: string; readonly name: string } | undefined {
    const call = this.#calls.get(index)
    return call && { id: call.id, name: this.#names.get(call.name) ?? call.name }
  }

  /** What has arrived; whole once `finish` is there. */
  finish(): Assembled {
    const { reason, replay } = this.#finish ?? {}
    return {
      content: this.#drafts.map((draft) => toPart(draft, this.#names)),
      finish: reason,
      usage: this.#usage,
      replay,
      hasText: this.#drafts.some((draft) => draft.type === 'text' && draft.text.trim() !== ''),
      hasReasoning: this.#drafts.some((draft) => draft.type === 'reasoning'),
      truncated: reason === 'max-tokens',
    }
  }

  #open({ index, id: wireId = '' }: Fragment): CallDraft {
    const id = this.#isFree(wireId) ? wireId : (this.#options.newId?.() ?? `call_${newId()}`)
    const call: CallDraft = { type: 'tool-call', id, wireId, name: '', arguments: '' }
    this.#drafts.push(call)
    this.#calls.set(index, call)
    return call
  }

  #isFree(id: string): boolean {
    const repeated = this.#drafts.some((draft) => isCall(draft) && draft.id === id)
    return id !== '' && !repeated && !this.#options.isTaken?.(id)
  }

  #grow(text: string): void {
    this.#size += text.length
    if (this.#size > MAX_CHARACTERS) {
      this.#refuse(`an answer of more than ${MAX_CHARACTERS} characters`)
    }
  }

  #check(event: ModelEvent): void {
    const wrong = wrongMember(event)
    if (wrong !== undefined) this.#refuse(`the ${wrong} of a ${event.type} event is no text`)
  }

  #refuse(reason: string): never {
    throw modelError('MALFORMED_RESPONSE', { model: this.#options.model ?? 'the model', reason })
  }
}

export function createAssembler(options: AssembleOptions = {}): Assembler {
  return new Assembler(options)
}

/** The member that must be a text and is none. */
function wrongMember(event: ModelEvent): string | undefined {
  if (event.type === 'usage') return undefined
  if (event.type === 'text' || event.type === 'reasoning')
    return isText(event.text) ? undefined : 'text'
  if (event.type === 'finish') return isText(event.reason) ? undefined : 'reason'
  const { id, name, arguments: piece } = event
  return Object.entries({ id, name, arguments: piece }).find(([, value]) => {
    return value !== undefined && !isText(value)
  })?.[0]
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCall(draft: Draft): draft is CallDraft {
  return draft.type === 'tool-call'
}

// A replay state closes its part: what follows belongs to another piece of reasoning.
function addText(drafts: Draft[], type: TextDraft['type'], text: string, replay?: unknown): void {
  const last = drafts.at(-1)
  if (last && !isCall(last) && last.type === type && last.replay === undefined) {
    last.text += text
    if (replay !== undefined) last.replay = replay
    return
  }
  if (text === '' && replay === undefined) return
  drafts.push(replay === undefined ? { type, text } : { type, text, replay })
}

type Fragment = Extract<ModelEvent, { type: 'tool-call' }>

// Some servers repeat the whole name in every piece, or the whole arguments at the end.
function addFragment(call: CallDraft, fragment: Fragment): void {
  const { id, name = '', arguments: piece = '' } = fragment
  // An id that comes late is kept for the wire: the call may already have been shown under its own.
  if (id && call.wireId === '') call.wireId = id
  if (name !== call.name) call.name += name
  if (piece.length > 1 && piece === call.arguments && isJson(piece)) return
  call.arguments += piece
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // Not JSON is the answer.
    return false
  }
}

function toPart(draft: Draft, names: ReadonlyMap<string, string>): ContentPart {
  if (!isCall(draft)) {
    if (draft.type === 'text') return { type: 'text', text: draft.text }
    const { text, replay } = draft
    return replay === undefined ? { type: 'reasoning', text } : { type: 'reasoning', text, replay }
  }
  const { id, wireId } = draft
  const name = names.get(draft.name) ?? draft.name
  const call: ToolCallPart = { type: 'tool-call', id, name, arguments: draft.arguments }
  return wireId === id ? call : { ...call, wireId }
}
