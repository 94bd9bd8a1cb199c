import type { Usage } from '@cordage/core/message'
import type { AnswerEntry, Entry, EntryImage, EntryText, UserEntry } from './entry.ts'
import { LeftBehind } from './left-behind.ts'
import { recordsOf } from './lines.ts'
import {
  argumentsIn,
  countIn,
  listIn,
  recordIn,
  textIn,
  timeIn,
  wordsIn,
  type Loose,
} from './loose.ts'

/** Whether the first line is of a session of pi (formats 1 to 3). */
export function isPi(value: Loose): boolean {
  return value['type'] === 'session' && 'timestamp' in value && !('delegationDepth' in value)
}

/**
 * A session of pi: a tree of entries, each tied to its parent; the last one is where the
 * conversation stands. Format 1 has no ids: there all lines are of it.
 */
export async function* readPi(path: string, left: LeftBehind): AsyncGenerator<Entry> {
  const active = await activeEntries(path)
  for await (const { value } of recordsOf(path, left)) {
    const id = textIn(value['id'])
    if (value['type'] === 'session') {
      yield { kind: 'about', session: id, cwd: textIn(value['cwd']) }
      if ('parentSession' in value)
        left.add('the session it is a branch of', wordsIn(value['parentSession']))
    } else if (id === undefined || active.has(id)) yield* entriesOf(value, left)
    else left.add('entries of other branches', `${wordsIn(value['type'])} ${id}`)
  }
}

async function activeEntries(path: string): Promise<ReadonlySet<string>> {
  const parents = new Map<string, string | undefined>()
  let last: string | undefined
  for await (const { value } of recordsOf(path, new LeftBehind())) {
    const id = textIn(value['id'])
    if (id === undefined || value['type'] === 'session') continue
    const parent = textIn(value['parentId'])
    // What a damaged line held stood between this entry and the one before it.
    parents.set(id, parent !== undefined && !parents.has(parent) ? last : parent)
    last = id
  }
  const active = new Set<string>()
  for (let at = last; at !== undefined && !active.has(at); at = parents.get(at)) active.add(at)
  return active
}

function entriesOf(value: Loose, left: LeftBehind): Entry[] {
  const time = timeIn(value['timestamp'])
  const mark = textIn(value['id'])
  const text = textIn(value['summary']) ?? ''
  switch (value['type']) {
    case 'message':
      return messageEntries(recordIn(value['message']), time, mark, left)
    case 'compaction':
      return [{ kind: 'summary', text, keepFrom: textIn(value['firstKeptEntryId']), time, mark }]
    case 'branch_summary':
      return [{ kind: 'user', parts: [{ type: 'text', text }], form: 'summary', time, mark }]
    case 'custom_message': {
      const parts = spokenParts(value['content'], left)
      return [{ kind: 'user', parts, form: 'notice', time, mark }]
    }
    case 'session_info': {
      const title = textIn(value['name'])
      return title === undefined ? [] : [{ kind: 'title', title, by: 'user', time }]
    }
    default:
      left.add(`entries of the type ${wordsIn(value['type'])}`, JSON.stringify(value))
      return []
  }
}

function messageEntries(
  message: Loose,
  written: number | undefined,
  mark: string | undefined,
  left: LeftBehind,
): Entry[] {
  const time = timeIn(message['timestamp']) ?? written
  const user = (parts: UserEntry['parts'], form?: UserEntry['form']): Entry[] => {
    return [{ kind: 'user', parts, form, time, mark }]
  }
  switch (message['role']) {
    case 'user':
      return user(spokenParts(message['content'], left))
    case 'assistant':
      return assistantEntries(message, time, mark, left)
    case 'toolResult': {
      const parts = spokenParts(message['content'], left)
      if ('details' in message)
        left.add('structured results of tools', wordsIn(message['toolName']))
      const callId = wordsIn(message['toolCallId'] ?? '')
      return [{ kind: 'result', callId, parts, isError: message['isError'] === true, time, mark }]
    }
    case 'bashExecution': {
      const { command, output, exitCode } = message
      const text = `$ ${wordsIn(command)}\n${textIn(output) ?? ''}\nexit code ${wordsIn(exitCode)}`
      return user([{ type: 'text', text }], 'notice')
    }
    case 'branchSummary':
    case 'compactionSummary':
      return user([{ type: 'text', text: textIn(message['summary']) ?? '' }], 'summary')
    default:
      return user(spokenParts(message['content'], left), 'notice')
  }
}

function assistantEntries(
  message: Loose,
  time: number | undefined,
  mark: string | undefined,
  left: LeftBehind,
): Entry[] {
  const parts = answerParts(message['content'], left)
  const { stopReason, errorMessage, usage } = message
  const answer: AnswerEntry = {
    kind: 'answer',
    provider: textIn(message['provider']) ?? 'unknown',
    model: textIn(message['model']) ?? 'unknown',
    parts,
    usage: usageIn(usage),
    costUsd: costIn(usage),
    finish: stopReason === 'length' ? 'max-tokens' : undefined,
    interrupted: stopReason === 'aborted' ? true : undefined,
    time,
    mark,
  }
  const said = parts.some((part) => part.type === 'call' || part.text.trim() !== '')
  const entries: Entry[] = said ? [answer] : []
  if (stopReason === 'aborted') return [...entries, { kind: 'end', reason: 'aborted', time }]
  if (stopReason !== 'error') return [answer]
  const words = textIn(errorMessage) ?? 'The request failed.'
  return [...entries, { kind: 'failed', code: 'IMPORTED_FAILURE', message: words, time }]
}

function answerParts(content: unknown, left: LeftBehind): AnswerEntry['parts'] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listIn(content).flatMap((value): AnswerEntry['parts'] => {
    const part = recordIn(value)
    if (part['type'] === 'text') return [{ type: 'text', text: textIn(part['text']) ?? '' }]
    if (part['type'] === 'thinking') {
      if (part['thinkingSignature']) left.add('signatures of reasoning', 'thinking')
      return [{ type: 'reasoning', text: textIn(part['thinking']) ?? '' }]
    }
    if (part['type'] === 'toolCall') {
      const { id, name, arguments: given } = part
      const text = argumentsIn(given ?? {})
      return [{ type: 'call', id: wordsIn(id ?? ''), name: wordsIn(name ?? ''), arguments: text }]
    }
    left.add('parts of answers', wordsIn(part['type']))
    return []
  })
}

function spokenParts(content: unknown, left: LeftBehind): (EntryText | EntryImage)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listIn(content).flatMap((value): (EntryText | EntryImage)[] => {
    const part = recordIn(value)
    if (part['type'] === 'text') return [{ type: 'text', text: textIn(part['text']) ?? '' }]
    const base64 = textIn(part['data'])
    if (part['type'] === 'image' && base64 !== undefined) {
      return [{ type: 'image', mediaType: wordsIn(part['mimeType']), base64 }]
    }
    left.add('parts of messages', wordsIn(part['type']))
    return []
  })
}

function usageIn(value: unknown): Usage | undefined {
  const usage = recordIn(value)
  if (typeof usage['input'] !== 'number') return undefined
  const cacheReadTokens = countIn(usage['cacheRead'])
  const cacheWriteTokens = countIn(usage['cacheWrite'])
  const inputTokens = countIn(usage['input']) + cacheReadTokens + cacheWriteTokens
  return { inputTokens, outputTokens: countIn(usage['output']), cacheReadTokens, cacheWriteTokens }
}

function costIn(usage: unknown): number | undefined {
  const { total } = recordIn(recordIn(usage)['cost'])
  return typeof total === 'number' && Number.isFinite(total) ? total : undefined
}
