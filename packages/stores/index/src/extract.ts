import { textOf, type Message } from '@cordage/core/message'
import {
  assistantMessage,
  compactionSummary,
  coreEvent,
  sessionTitle,
  toolCall,
  toolResult,
  userMessage,
  type Fact,
  type FactOf,
} from '@cordage/core/session'
import type { HitSource } from '@cordage/core/store'
import type { Entry } from './calls.ts'

export interface ExtractOptions {
  readonly maxTextChars: number
  readonly maxResultChars: number
  readonly reasoning: boolean
  /** What these tools answer is in the index already. */
  readonly ignoredTools: readonly string[]
  /** Of a log; an output that is not in the log itself is there. */
  readonly getBlob: (hash: string) => Promise<Uint8Array>
}

/** Beyond it the whole would be read for its head. */
const maxBlobBytes = 4 * 1024 * 1024

/** What drives a terminal: its letters are no words, and what it stands between are two. */
const sequences =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B[@-Z\\-_]/g

/** What is searched of a fact; nothing where it holds no words, or is not what its type says. */
export async function entryOf(stored: Fact, options: ExtractOptions): Promise<Entry | undefined> {
  try {
    const said = await saidIn(stored, options)
    const text = (said?.text ?? '').replaceAll(sequences, ' ').toWellFormed()
    if (!said || text.trim() === '') return undefined
    const { seq, time, type } = stored
    const max = type === toolResult.type ? options.maxResultChars : options.maxTextChars
    return [seq, time, type, said.source, text.slice(0, max).toWellFormed()]
  } catch {
    // A record of another shape has no words; reading the session shows it as it is.
    return undefined
  }
}

interface Said {
  readonly source: HitSource
  readonly text: string
}

async function saidIn(stored: Fact, options: ExtractOptions): Promise<Said | undefined> {
  const kind = coreEvent(stored.type)
  if (!kind || stored.v > kind.version) return undefined
  const fact = kind.upgraded(stored)
  if (userMessage.is(fact)) return ofMessage(fact.data.message, options)
  if (assistantMessage.is(fact)) return ofMessage(fact.data.message, options)
  if (compactionSummary.is(fact)) return ofMessage(fact.data.message, options)
  if (sessionTitle.is(fact)) return ofTitle(fact.data)
  if (toolCall.is(fact)) return ofCall(fact.data, options)
  if (toolResult.is(fact)) return ofResult(fact.data, options)
  return undefined
}

function ofMessage(message: Message, { reasoning }: ExtractOptions): Said {
  const { kind } = message.source
  const thought = message.content.flatMap((part) => (part.type === 'reasoning' ? part.text : []))
  return { source: kind, text: [textOf(message), ...(reasoning ? thought : [])].join('\n') }
}

/** First words are said in the message that they are from. */
function ofTitle({ title, by }: FactOf<typeof sessionTitle>['data']): Said | undefined {
  return by === 'first-words' ? undefined : { source: by, text: title }
}

function ofCall(
  { name, arguments: text }: FactOf<typeof toolCall>['data'],
  { ignoredTools }: ExtractOptions,
): Said | undefined {
  if (ignoredTools.includes(name)) return undefined
  return { source: 'model', text: [name, ...leavesOf(text)].join('\n') }
}

async function ofResult(
  { name, part, truncated }: FactOf<typeof toolResult>['data'],
  { ignoredTools, maxResultChars, getBlob }: ExtractOptions,
): Promise<Said | undefined> {
  if (ignoredTools.includes(name)) return undefined
  const shown = textOf(part)
  const whole = truncated?.blob
  if (!whole || truncated.shownHead >= maxResultChars || whole.bytes > maxBlobBytes) {
    return { source: 'tool', text: shown }
  }
  try {
    return { source: 'tool', text: Buffer.from(await getBlob(whole.hash)).toString() }
  } catch {
    // What is lost of it does not lose what the log still has.
    return { source: 'tool', text: shown }
  }
}

/** Names and values in JSON text, each as it is without its escapes; else the text itself. */
function leavesOf(text: string): string[] {
  try {
    return leavesIn(JSON.parse(text))
  } catch {
    return [text]
  }
}

function leavesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)]
  if (Array.isArray(value)) return value.flatMap(leavesIn)
  return Object.entries(value).flatMap(([name, member]) => [name, ...leavesIn(member)])
}
