import type { Scope } from '@cordage/core/kernel'
import { newId, textMessage } from '@cordage/core/message'
import {
  estimateMessage,
  estimateTokens,
  estimateTool,
  type ResolvedModel,
} from '@cordage/core/model'
import { requestMessages, type Session, type SurfaceEntry } from '@cordage/core/session'
import { frame } from '@cordage/core/tool'
import { askForSnapshot, mayWorkLater, type Answered, type Bill, type Question } from './ask.ts'
import { summaryCap } from './budget.ts'
import type { CompactionConfig } from './config.ts'
import { DEFAULT_SUMMARY_PROMPT } from './prompt.ts'
import { transcriptOf } from './words.ts'

/** Room for what a provider adds around messages, and for estimates that are too low. */
const MARGIN = 0.75

export interface Source {
  readonly session: Session
  readonly scope: Scope
  readonly model: ResolvedModel
  /** What is summed up. */
  readonly entries: readonly SurfaceEntry[]
  readonly signal: AbortSignal
}

/**
 * A snapshot of `entries`: by one call that begins as the last request did, so that a provider has
 * it in its cache, or in chunks where they do not fit into one.
 */
export async function summarise(
  source: Source,
  config: CompactionConfig,
  bill: Bill,
): Promise<Answered> {
  const { session, scope, model, entries, signal } = source
  const room = roomOf(model, config)
  const systems = session.surface.filter(({ message }) => message.role === 'system')
  const tools = session.requestHeader?.tools ?? []
  const fixed = tools.reduce((sum, tool) => sum + estimateTool(tool), 0)
  const taken = [...systems, ...entries].reduce(
    (sum, { message }) => sum + estimateMessage(message),
    fixed,
  )
  if (taken > room) return inChunks(source, room, config, bill)
  const before = session.surface.slice(
    0,
    session.surface.indexOf(entries.at(-1) as SurfaceEntry) + 1,
  )
  const messages = requestMessages(before, model)
  const sourceChars = charsOf(transcriptOf(entries))
  const question = { model, session, scope, messages, tools, sourceChars, signal }
  const answered = await insist(question, config, bill)
  // The window is smaller than declared, or the estimate too low.
  const overflowed = answered.reason === 'CONTEXT_WINDOW_EXCEEDED'
  return overflowed ? inChunks(source, Math.floor(taken / 2), config, bill) : answered
}

/** Each call is told what the ones before it came to. */
async function inChunks(
  { session, scope, model, entries, signal }: Source,
  room: number,
  config: CompactionConfig,
  bill: Bill,
): Promise<Answered> {
  // Half for the chunk: the other half is for what was summed up before it.
  let answered: Answered = { reason: 'history_too_short' }
  const texts = transcriptOf(entries)
  const asked = { model, session, scope, tools: [], sourceChars: charsOf(texts), signal }
  for (const chunk of chunksOf(texts, Math.floor(room / 2))) {
    const earlier =
      answered.snapshot === undefined ? '' : `What came before:\n${answered.snapshot}\n\n`
    const text = `${earlier}${frame('conversation', {}, chunk)}`
    const source = { kind: 'plugin', row: 'context-compaction', form: 'notice' } as const
    const messages = [{ message: textMessage(newId(), 'user', text, source) }]
    answered = await insist({ ...asked, messages }, config, bill)
    if (answered.reason !== undefined) return answered
  }
  return answered
}

function charsOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

async function insist(question: Question, config: CompactionConfig, bill: Bill): Promise<Answered> {
  for (let tries = 0; ; tries += 1) {
    const answered = await askForSnapshot(question, config, bill)
    const again = answered.reason !== undefined && mayWorkLater(answered.reason)
    if (!again || tries >= config.summaryRetries) return answered
    await pause(config.retryDelayMs * 2 ** tries, question.signal)
  }
}

function roomOf({ info }: ResolvedModel, config: CompactionConfig): number {
  const { summaryPrompt = DEFAULT_SUMMARY_PROMPT } = config
  const left = info.contextWindow - summaryCap(info, config) - estimateTokens(summaryPrompt)
  return Math.max(256, Math.floor(left * MARGIN))
}

/** Texts together as far as they fit; one that is too large alone is cut into several. */
export function chunksOf(texts: readonly string[], maxTokens: number): string[] {
  const chunks: string[] = []
  let open: string[] = []
  let taken = 0
  const close = () => {
    if (open.length > 0) chunks.push(open.join('\n\n'))
    open = []
    taken = 0
  }
  for (const text of texts.flatMap((whole) => piecesOf(whole, maxTokens))) {
    const tokens = estimateTokens(text)
    if (taken + tokens > maxTokens) close()
    open.push(text)
    taken += tokens
  }
  close()
  return chunks
}

/** Halves until each fits, never within a character. */
function piecesOf(text: string, maxTokens: number): string[] {
  if (text.length <= 1 || estimateTokens(text) <= maxTokens) return [text]
  const half = Math.ceil(text.length / 2)
  const at = /[\uDC00-\uDFFF]/.test(text[half] ?? '') ? half + 1 : half
  return [...piecesOf(text.slice(0, at), maxTokens), ...piecesOf(text.slice(at), maxTokens)]
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
