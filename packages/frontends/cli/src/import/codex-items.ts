import type { AnswerEntry, Entry, EntryImage, EntryText, ResultEntry, UserEntry } from './entry.ts'
import type { LeftBehind } from './left-behind.ts'
import {
  argumentsIn,
  countIn,
  isRecord,
  listIn,
  recordIn,
  textIn,
  wordsIn,
  type Loose,
} from './loose.ts'
import { parsed } from './lines.ts'

/** What the program put into the mouth of the user. */
const injected =
  /^\s*(?:<environment_context>|<user_instructions>|<turn_aborted>|<INSTRUCTIONS>|# AGENTS\.md )/

/**
 * Items of the Responses API. Those that a model gave, up to the next outputs of tools, are one
 * answer: rollouts do not tell where a response ended.
 */
export class CodexItems {
  provider = 'openai'
  model = 'unknown'
  readonly #left: LeftBehind
  #answer = 0
  #answered = false

  constructor(left: LeftBehind) {
    this.#left = left
  }

  entries(item: Loose, time: number | undefined): Entry[] {
    switch (item['type']) {
      case 'message':
        return item['role'] === 'assistant'
          ? [this.#answerOf(textParts(item['content']), time)]
          : [this.#userOf(item, time)]
      case 'reasoning':
        return this.#reasoning(item, time)
      case 'function_call':
      case 'custom_tool_call':
      case 'local_shell_call':
        return [this.#call(item, time)]
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'local_shell_call_output':
        return [this.#output(item, time)]
      default:
        this.#left.add('items', wordsIn(item['type'] ?? item['record_type']))
        return []
    }
  }

  #userOf(item: Loose, time: number | undefined): UserEntry {
    this.#answered = true
    const parts = this.#spoken(item['content'])
    const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    const isOwn = item['role'] === 'user' && !injected.test(text)
    return { kind: 'user', parts, time, form: isOwn ? undefined : 'instructions' }
  }

  #answerOf(parts: AnswerEntry['parts'], time: number | undefined): AnswerEntry {
    if (this.#answered) this.#answer += 1
    this.#answered = false
    const { provider, model } = this
    return { kind: 'answer', provider, model, parts, key: String(this.#answer), time }
  }

  #reasoning(item: Loose, time: number | undefined): Entry[] {
    if (item['encrypted_content']) this.#left.add('reasoning that is encrypted', '')
    const texts = [...listIn(item['summary']), ...listIn(item['content'])]
      .map((part) => textIn(recordIn(part)['text']))
      .filter((text) => text !== undefined)
    return [this.#answerOf([{ type: 'reasoning', text: texts.join('\n\n') }], time)]
  }

  #call(item: Loose, time: number | undefined): Entry {
    const { call_id: id, name, input, action, arguments: given } = item
    const args = given ?? (input === undefined ? action : JSON.stringify({ input }))
    const call = {
      type: 'call',
      id: wordsIn(id ?? ''),
      name: textIn(name) ?? 'local_shell',
      arguments: argumentsIn(args),
    } as const
    return this.#answerOf([call], time)
  }

  #output({ call_id: id, output }: Loose, time: number | undefined): ResultEntry {
    this.#answered = true
    // Of a shell it is JSON text with the output, the exit code and the seconds it took.
    const told = typeof output === 'string' ? recordIn(parsed(output)) : recordIn(output)
    const { exit_code: exit, duration_seconds: seconds } = recordIn(told['metadata'])
    const content = told['output'] ?? told['content'] ?? output
    const failed = typeof exit === 'number' && exit !== 0
    return {
      kind: 'result',
      callId: wordsIn(id ?? ''),
      parts: this.#spoken(content),
      isError: failed || told['success'] === false,
      durationMs: countIn(seconds) * 1000 || undefined,
      time,
    }
  }

  #spoken(content: unknown): (EntryText | EntryImage)[] {
    if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
    return listIn(content).flatMap((value): (EntryText | EntryImage)[] => {
      const part = recordIn(value)
      const text = textIn(part['text'])
      if (text !== undefined) return [{ type: 'text', text }]
      const address = textIn(part['image_url']) ?? ''
      const [, mediaType = '', base64] = /^data:([^;,]+);base64,(.*)$/s.exec(address) ?? []
      if (base64 !== undefined) return [{ type: 'image', mediaType, base64 }]
      this.#left.add('parts of messages', wordsIn(part['type']))
      return []
    })
  }
}

function textParts(content: unknown): EntryText[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listIn(content).flatMap((part) => {
    const text = isRecord(part) ? (textIn(part['text']) ?? textIn(part['refusal'])) : undefined
    return text === undefined ? [] : [{ type: 'text' as const, text }]
  })
}
