import type { Usage } from '@cordage/core/message'
import type { AnswerEntry, Entry, EntryImage, EntryText, ResultEntry } from './entry.ts'
import type { LeftBehind } from './left-behind.ts'
import {
  argumentsIn,
  countIn,
  isRecord,
  listIn,
  recordIn,
  textIn,
  timeIn,
  wordsIn,
  type Loose,
} from './loose.ts'

/** Parts that are of opencode's own housekeeping. */
const housekeeping = new Set(['step-start', 'snapshot', 'patch', 'agent', 'retry'])

/** The entries of one message and its parts. */
export function* messageEntries(
  message: Loose,
  parts: readonly Loose[],
  left: LeftBehind,
): Generator<Entry> {
  if (message['role'] === 'user') yield* userEntries(message, parts, left)
  else if (message['role'] === 'assistant') yield* answerEntries(message, parts, left)
  else left.add('messages of another role', wordsIn(message['role']))
}

function* userEntries(message: Loose, parts: readonly Loose[], left: LeftBehind): Generator<Entry> {
  const time = timeIn(recordIn(message['time'])['created'])
  const said: (EntryText | EntryImage)[] = []
  const added: EntryText[] = []
  for (const part of parts) {
    const text = textIn(part['text'])
    if (part['type'] === 'text' && text !== undefined) {
      if (part['synthetic'] === true) added.push({ type: 'text', text })
      else said.push({ type: 'text', text })
    } else if (part['type'] === 'file') said.push(filePart(part, left))
    else if (part['type'] !== 'compaction') left.add('parts of messages', wordsIn(part['type']))
  }
  if (said.length > 0) yield { kind: 'user', parts: said, time }
  if (added.length > 0) yield { kind: 'user', parts: added, form: 'notice', time }
}

/** An answer of several steps is one message whose parts begin and finish each. */
function* answerEntries(
  message: Loose,
  parts: readonly Loose[],
  left: LeftBehind,
): Generator<Entry> {
  const { created, completed } = recordIn(message['time'])
  const time = timeIn(created)
  if (message['summary'] === true) {
    const text = parts.map((part) => (part['type'] === 'text' ? textIn(part['text']) : '')).join('')
    yield { kind: 'summary', text, time }
    return
  }
  let step = 0
  const isStepped = parts.some((part) => part['type'] === 'step-finish')
  for (const part of parts) {
    if (part['type'] === 'step-start') step += 1
    yield* partEntries(part, { message, key: `${wordsIn(message['id'])}-${step}`, time, left })
  }
  if (!isStepped) {
    const { cost, tokens } = message
    const usage = usageIn(tokens)
    const key = `${wordsIn(message['id'])}-${step}`
    if (usage)
      yield { ...answerOf(message, key, [], timeIn(completed)), usage, costUsd: costIn(cost) }
  }
  const error = recordIn(message['error'])
  if (error['name'] === 'MessageAbortedError') yield { kind: 'end', reason: 'aborted', time }
  else if (isRecord(message['error'])) {
    const said = textIn(recordIn(error['data'])['message']) ?? wordsIn(error['name'])
    yield {
      kind: 'failed',
      code: 'IMPORTED_FAILURE',
      message: said,
      time: timeIn(completed) ?? time,
    }
  }
}

interface Place {
  readonly message: Loose
  readonly key: string
  readonly time: number | undefined
  readonly left: LeftBehind
}

function* partEntries(part: Loose, { message, key, time, left }: Place): Generator<Entry> {
  const text = textIn(part['text']) ?? ''
  const begun = timeIn(recordIn(part['time'])['start']) ?? time
  switch (part['type']) {
    case 'text':
      return yield answerOf(message, key, [{ type: 'text', text }], begun)
    case 'reasoning':
      if (isRecord(part['metadata'])) left.add('signatures of reasoning', 'metadata')
      return yield answerOf(message, key, [{ type: 'reasoning', text }], begun)
    case 'tool':
      return yield* toolEntries(part, message, key, left)
    case 'step-finish': {
      const usage = usageIn(part['tokens'])
      return yield {
        ...answerOf(message, key, [], undefined),
        usage,
        costUsd: costIn(part['cost']),
      }
    }
    default:
      if (!housekeeping.has(wordsIn(part['type'])))
        left.add('parts of answers', wordsIn(part['type']))
      return undefined
  }
}

function* toolEntries(
  part: Loose,
  message: Loose,
  key: string,
  left: LeftBehind,
): Generator<Entry> {
  const { callID: callId, tool } = part
  const state = recordIn(part['state'])
  const { start, end } = recordIn(state['time'])
  const id = wordsIn(callId ?? '')
  const given = argumentsIn(state['input'] ?? {})
  const call = { type: 'call', id, name: wordsIn(tool ?? ''), arguments: given } as const
  yield answerOf(message, key, [call], timeIn(start))
  if (state['status'] !== 'completed' && state['status'] !== 'error') return
  const isError = state['status'] === 'error'
  const output = textIn(isError ? state['error'] : state['output']) ?? ''
  const files = listIn(state['attachments']).map((file) => filePart(recordIn(file), left))
  if (isRecord(state['metadata'])) left.add('structured results of tools', wordsIn(tool))
  const [began, ended] = [timeIn(start), timeIn(end)]
  const result: ResultEntry = {
    kind: 'result',
    callId: id,
    parts: [{ type: 'text', text: output }, ...files],
    isError,
    time: ended,
    durationMs: began === undefined || ended === undefined ? undefined : Math.max(0, ended - began),
  }
  yield result
}

function answerOf(
  message: Loose,
  key: string,
  parts: AnswerEntry['parts'],
  time: number | undefined,
): AnswerEntry {
  const provider = textIn(message['providerID']) ?? 'unknown'
  const model = textIn(message['modelID']) ?? 'unknown'
  return { kind: 'answer', provider, model, parts, key, time }
}

function filePart(part: Loose, left: LeftBehind): EntryText | EntryImage {
  const { mime, filename, url } = part
  const [, mediaType = '', base64] = /^data:([^;,]+);base64,(.*)$/s.exec(textIn(url) ?? '') ?? []
  if (base64 !== undefined && mediaType.startsWith('image/')) {
    return { type: 'image', mediaType, base64 }
  }
  left.add('files', `${wordsIn(filename)} ${wordsIn(mime)}`)
  return { type: 'text', text: `[the file ${wordsIn(filename)}]` }
}

/** Counts that are apart: input without the cached tokens, output without reasoning. */
function usageIn(value: unknown): Usage | undefined {
  const tokens = recordIn(value)
  if (typeof tokens['input'] !== 'number') return undefined
  const cache = recordIn(tokens['cache'])
  const cacheReadTokens = countIn(cache['read'])
  const cacheWriteTokens = countIn(cache['write'])
  const reasoningTokens = countIn(tokens['reasoning'])
  return {
    inputTokens: countIn(tokens['input']) + cacheReadTokens + cacheWriteTokens,
    outputTokens: countIn(tokens['output']) + reasoningTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
  }
}

function costIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
