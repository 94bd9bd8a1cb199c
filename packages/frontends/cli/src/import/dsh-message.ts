import type { Usage } from '@cordage/core/message'
import type { AnswerEntry, EntryImage, EntryText } from './entry.ts'
import type { LeftBehind } from './left-behind.ts'
import { argumentsIn, countIn, listIn, recordIn, textIn, wordsIn } from './loose.ts'

export function dshTexts(content: unknown): string {
  return listIn(content)
    .map((part) => textIn(recordIn(part)['text']) ?? '')
    .join('')
}

export function dshSpoken(content: unknown, left: LeftBehind): (EntryText | EntryImage)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listIn(content).flatMap((value): (EntryText | EntryImage)[] => {
    const part = recordIn(value)
    if (part['type'] === 'text') return [{ type: 'text', text: textIn(part['text']) ?? '' }]
    // The log names an attachment, whose bytes are elsewhere.
    const what = part['type'] === 'image' ? 'images kept outside of the log' : 'parts of messages'
    left.add(what, JSON.stringify(part))
    return [{ type: 'text', text: `[${wordsIn(part['type'])}]` }]
  })
}

export function dshAnswer(content: unknown, left: LeftBehind): AnswerEntry['parts'] {
  return listIn(content).flatMap((value): AnswerEntry['parts'] => {
    const part = recordIn(value)
    const text = textIn(part['text']) ?? ''
    if (part['type'] === 'text' || part['type'] === 'reasoning')
      return [{ type: part['type'], text }]
    if (part['type'] === 'tool-call') {
      const { id, name, arguments: given } = part
      const args = argumentsIn(given ?? '')
      return [{ type: 'call', id: wordsIn(id ?? ''), name: wordsIn(name ?? ''), arguments: args }]
    }
    left.add('parts of answers', JSON.stringify(part))
    return []
  })
}

/** Counts that are apart: input without the cached tokens. */
export function dshUsage(value: unknown): Usage | undefined {
  const usage = recordIn(value)
  if (typeof usage['inputTokens'] !== 'number') return undefined
  const cacheReadTokens = countIn(usage['cacheReadTokens'] ?? usage['cacheRead'])
  const cacheWriteTokens = countIn(usage['cacheWriteTokens'] ?? usage['cacheWrite'])
  const reasoningTokens = countIn(usage['reasoningTokens'] ?? usage['reasoning'])
  const inputTokens = countIn(usage['inputTokens']) + cacheReadTokens + cacheWriteTokens
  const outputTokens = countIn(usage['outputTokens'])
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens }
}
