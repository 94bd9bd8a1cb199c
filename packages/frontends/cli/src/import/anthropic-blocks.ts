import type { Usage } from '@cordage/core/message'
import type { AnswerEntry, EntryImage, EntryText } from './entry.ts'
import type { LeftBehind } from './left-behind.ts'
import { argumentsIn, countIn, listIn, recordIn, textIn, wordsIn } from './loose.ts'

/** Content of a user message or a tool result of the Messages API: a text, or a list of blocks. */
export function spokenParts(content: unknown, left: LeftBehind): (EntryText | EntryImage)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listIn(content).flatMap((value): (EntryText | EntryImage)[] => {
    const block = recordIn(value)
    if (block['type'] === 'text') return [{ type: 'text', text: textIn(block['text']) ?? '' }]
    if (block['type'] === 'tool_result') return []
    const { type, media_type: mediaType, data } = recordIn(block['source'])
    if (block['type'] === 'image' && type === 'base64') {
      return [{ type: 'image', mediaType: wordsIn(mediaType), base64: textIn(data) ?? '' }]
    }
    left.add('parts of messages', `${wordsIn(block['type'])} ${wordsIn(type ?? '')}`)
    return [{ type: 'text', text: `[${wordsIn(block['type'])}]` }]
  })
}

export function answerParts(content: unknown, left: LeftBehind): AnswerEntry['parts'] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listIn(content).flatMap((value): AnswerEntry['parts'] => {
    const block = recordIn(value)
    switch (block['type']) {
      case 'text':
        return [{ type: 'text', text: textIn(block['text']) ?? '' }]
      case 'thinking':
        if (block['signature']) left.add('signatures of reasoning', 'thinking')
        return [{ type: 'reasoning', text: textIn(block['thinking']) ?? '' }]
      case 'tool_use': {
        const { id, name, input } = block
        const given = argumentsIn(input ?? {})
        return [
          { type: 'call', id: wordsIn(id ?? ''), name: wordsIn(name ?? ''), arguments: given },
        ]
      }
      case 'redacted_thinking':
        left.add('reasoning that is encrypted', 'redacted_thinking')
        return []
      default:
        left.add('parts of answers', JSON.stringify(block))
        return []
    }
  })
}

/** The counts of the Messages API, of which the cached ones are apart. */
export function usageOf(value: unknown): Usage | undefined {
  const usage = recordIn(value)
  if (typeof usage['output_tokens'] !== 'number') return undefined
  const cacheReadTokens = countIn(usage['cache_read_input_tokens'])
  const cacheWriteTokens = countIn(usage['cache_creation_input_tokens'])
  const inputTokens = countIn(usage['input_tokens']) + cacheReadTokens + cacheWriteTokens
  const outputTokens = countIn(usage['output_tokens'])
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }
}
