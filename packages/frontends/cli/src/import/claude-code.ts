import { answerParts, spokenParts, usageOf } from './anthropic-blocks.ts'
import { ClaudeThreads } from './claude-code-thread.ts'
import type { Entry, ResultEntry, UserEntry } from './entry.ts'
import { LeftBehind } from './left-behind.ts'
import { recordsOf } from './lines.ts'
import {
  countIn,
  isRecord,
  listIn,
  recordIn,
  textIn,
  timeIn,
  wordsIn,
  type Loose,
} from './loose.ts'

/** Whether a line is of a transcript of Claude Code (1.0 to 2.1). */
export function isClaudeCode(value: Loose): boolean {
  if (value['type'] === 'summary') return 'leafUuid' in value
  const isOwn = 'sessionId' in value && ('uuid' in value || 'messageId' in value)
  return isOwn || value['type'] === 'file-history-snapshot' || value['type'] === 'queue-operation'
}

/**
 * A transcript of Claude Code: a line for each message, tied to the one before it by `parentUuid`.
 * Lines of what was taken back are told and passed over; sub-agents, among the lines or in files
 * of their own (`agents`), are threads.
 */
export async function* readClaudeCode(
  path: string,
  left: LeftBehind,
  agents: readonly string[] = [],
): AsyncGenerator<Entry> {
  yield* conversation(path, left)
  for (const file of agents) {
    for await (const entry of conversation(file, left)) yield { ...entry, thread: file }
  }
}

async function* conversation(path: string, left: LeftBehind): AsyncGenerator<Entry> {
  // Damaged lines are told when they are read for good.
  const threads = await ClaudeThreads.of(path, new LeftBehind())
  for await (const { value } of recordsOf(path, left)) {
    const thread = threads.sideOf(value)
    if (thread === undefined && !threads.isActive(value)) {
      left.add('lines of other branches', `${wordsIn(value['type'])} ${wordsIn(value['uuid'])}`)
      continue
    }
    const session = textIn(value['sessionId'])
    yield { kind: 'about', session, cwd: textIn(value['cwd']), thread }
    for (const entry of entriesOf(value, threads, left)) yield { ...entry, thread }
  }
}

function entriesOf(value: Loose, threads: ClaudeThreads, left: LeftBehind): Entry[] {
  const time = timeIn(value['timestamp'])
  switch (value['type']) {
    case 'user':
      return userEntries(value, time, left)
    case 'assistant':
      return assistantEntries(value, time, left)
    case 'summary':
      if (threads.knows(value['leafUuid'])) return titleEntry(value['summary'], 'model', time)
      left.add('titles of other sessions', wordsIn(value['summary']))
      return []
    case 'custom-title':
      return titleEntry(value['customTitle'], 'user', time)
    case 'ai-title':
      return titleEntry(value['aiTitle'], 'model', time)
    default: {
      const { subtype } = value
      // Behind it the summary itself follows.
      if (subtype === 'compact_boundary') return []
      left.add(
        `lines of the type ${wordsIn(value['type'])}`,
        textIn(subtype) ?? textIn(value['content']) ?? '',
      )
      return []
    }
  }
}

function titleEntry(title: unknown, by: 'user' | 'model', time: number | undefined): Entry[] {
  return typeof title === 'string' ? [{ kind: 'title', title, by, time }] : []
}

function userEntries(value: Loose, time: number | undefined, left: LeftBehind): Entry[] {
  const { content } = recordIn(value['message'])
  const parts = spokenParts(content, left)
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  if (value['isCompactSummary'] === true) return [{ kind: 'summary', text, time }]
  const results = listIn(content).filter((block) => recordIn(block)['type'] === 'tool_result')
  const entries: Entry[] = results.map((block) => resultEntry(recordIn(block), value, time, left))
  if (text.startsWith('[Request interrupted by user')) {
    return [...entries, { kind: 'end', reason: 'aborted', time }]
  }
  if (parts.length === 0) return entries
  const form = formOf(value, text)
  // A text beside results came while the turn was going on.
  const said: UserEntry = { kind: 'user', parts, time, form, joins: results.length > 0 }
  return [...entries, said]
}

function formOf(value: Loose, text: string): UserEntry['form'] {
  const isCommand = /^<(?:command-|local-command-|bash-|system-reminder)/.test(text.trimStart())
  return value['isMeta'] === true || isCommand ? 'notice' : undefined
}

function resultEntry(
  block: Loose,
  line: Loose,
  time: number | undefined,
  left: LeftBehind,
): ResultEntry {
  const own = line['toolUseResult']
  if (isRecord(own)) left.add('structured results of tools', JSON.stringify(own))
  const durationMs = countIn(recordIn(own)['durationMs']) || undefined
  return {
    kind: 'result',
    callId: wordsIn(block['tool_use_id'] ?? ''),
    parts: spokenParts(block['content'], left),
    isError: block['is_error'] === true,
    time,
    durationMs,
  }
}

function assistantEntries(value: Loose, time: number | undefined, left: LeftBehind): Entry[] {
  const message = recordIn(value['message'])
  const model = textIn(message['model']) ?? 'unknown'
  const parts = answerParts(message['content'], left)
  if (value['isApiErrorMessage'] === true) {
    const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return [{ kind: 'failed', code: 'IMPORTED_FAILURE', message: text, time }]
  }
  // Words of the program itself, which no model said.
  if (model === '<synthetic>') {
    const texts = parts.filter((part) => part.type === 'text')
    return [{ kind: 'user', parts: texts, form: 'notice', time }]
  }
  return [
    {
      kind: 'answer',
      provider: 'anthropic',
      model,
      parts,
      key: textIn(message['id']),
      usage: usageOf(message['usage']),
      costUsd: typeof value['costUSD'] === 'number' ? value['costUSD'] : undefined,
      finish: message['stop_reason'] === 'max_tokens' ? 'max-tokens' : undefined,
      time,
    },
  ]
}
