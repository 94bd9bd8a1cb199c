import { estimateTokenCount } from 'tokenx'
import type { ContentPart, Message } from '../message/index.ts'
import type { ToolSpec } from '../session/index.ts'

/** Tokens that an image counts for, whatever its size: the usual price of a large one. */
export const IMAGE_TOKENS = 1_600
/** Role, separators and ids of one message. */
const MESSAGE_TOKENS = 4
const MAX_CACHED = 4_096
/** Longer texts, whole request bodies among them, are judged by pieces: 100 KB take tens of milliseconds. */
const MAX_WHOLE = 65_536
const PIECES = 32

const texts = new Map<string, number>()
const messages = new WeakMap<Message, number>()

/** Estimated tokens of a text, Chinese, Japanese and Korean included; cached per string. */
export function estimateTokens(text: string): number {
  const known = texts.get(text)
  if (known !== undefined) return known
  const tokens = text.length <= MAX_WHOLE ? estimateTokenCount(text) : estimateByPieces(text)
  if (texts.size >= MAX_CACHED) texts.delete(texts.keys().next().value as string)
  // Long texts come in frozen messages, which have a cache of their own.
  if (text.length <= 8_192) texts.set(text, tokens)
  return tokens
}

/** By pieces that lie evenly in the text, together as long as the longest that is read whole. */
function estimateByPieces(text: string): number {
  const [length, every] = [MAX_WHOLE / PIECES, text.length / PIECES]
  const starts = Array.from({ length: PIECES }, (_, at) => Math.floor(at * every))
  const pieces = starts.map((start) => estimateTokenCount(text.slice(start, start + length)))
  const tokens = pieces.reduce((sum, count) => sum + count, 0)
  return Math.ceil((tokens * text.length) / MAX_WHOLE)
}

/** Estimated tokens of a message, which must not change afterwards; cached per object. */
export function estimateMessage(message: Message): number {
  const known = messages.get(message)
  if (known !== undefined) return known
  const tokens = MESSAGE_TOKENS + message.content.reduce((sum, part) => sum + estimatePart(part), 0)
  messages.set(message, tokens)
  return tokens
}

/** Estimated tokens of a tool as a model is told of it. */
export function estimateTool(tool: ToolSpec): number {
  return estimateTokens(`${tool.name} ${tool.description} ${JSON.stringify(tool.parameters)}`)
}

function estimatePart(part: ContentPart): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return estimateTokens(part.text)
    case 'image':
      return IMAGE_TOKENS
    case 'tool-call':
      return estimateTokens(part.name) + estimateTokens(part.arguments)
    case 'tool-result':
      return part.content.reduce((sum, inner) => sum + estimatePart(inner), 0)
  }
}
