import type { BlobRef, ContentPart, ImagePart, Message } from '../message/index.ts'
import type { ToolSpec } from '../session/index.ts'
import { estimateText } from './estimate-text.ts'
import type { ResolvedModel } from './provider.ts'

/** Tokens that an image counts for where its route does not say: the usual price of a large one. */
export const IMAGE_TOKENS = 1_600
/** Role, separators and ids of one message. */
const MESSAGE_TOKENS = 4
const MAX_CACHED = 4_096
/** Longer texts, whole request bodies among them, are judged by pieces: a megabyte takes 100 ms. */
const MAX_WHOLE = 65_536
const PIECES = 64

const texts = new Map<string, number>()
const messages = new WeakMap<Message, Weight>()

/** Estimated tokens of a text, Chinese, Japanese and Korean included; cached per string. */
export function estimateTokens(text: string): number {
  const known = texts.get(text)
  if (known !== undefined) return known
  const tokens = text.length <= MAX_WHOLE ? estimateText(text) : estimateByPieces(text)
  if (texts.size >= MAX_CACHED) texts.delete(texts.keys().next().value as string)
  // Long texts come in frozen messages, which have a cache of their own.
  if (text.length <= 8_192) texts.set(text, tokens)
  return tokens
}

/** By pieces that lie evenly in the text, together as long as the longest that is read whole. */
function estimateByPieces(text: string): number {
  const [length, every] = [MAX_WHOLE / PIECES, text.length / PIECES]
  const starts = Array.from({ length: PIECES }, (_, at) => Math.floor(at * every))
  const pieces = starts.map((start) => estimateText(text.slice(start, start + length)))
  const tokens = pieces.reduce((sum, count) => sum + count, 0)
  return Math.ceil((tokens * text.length) / MAX_WHOLE)
}

/** Tokens of an image: those of all, or what each takes. */
export type ImagePrice = number | ((image: BlobRef) => number)

/** What a model takes for an image: as configured, else as its route counts one of that size. */
export function imagePrice({ route, info }: ResolvedModel): (image: BlobRef) => number {
  return ({ width, height }) => {
    const size = width && height ? { width, height } : undefined
    return info.imageTokens ?? (size && route.imageTokens?.(size)) ?? IMAGE_TOKENS
  }
}

/** Estimated tokens of a message, which must not change afterwards; cached per object. */
export function estimateMessage(message: Message, price: ImagePrice = IMAGE_TOKENS): number {
  const { text, images } = messages.get(message) ?? weigh(message)
  const priceOf = typeof price === 'number' ? () => price : price
  return images.reduce((sum, image) => sum + priceOf(image), text)
}

/** Estimated tokens of a tool as a model is told of it. */
export function estimateTool(tool: ToolSpec): number {
  return estimateTokens(`${tool.name} ${tool.description} ${JSON.stringify(tool.parameters)}`)
}

interface Weight {
  readonly text: number
  readonly images: readonly BlobRef[]
}

function weigh(message: Message): Weight {
  const parts = message.content.flatMap((part): readonly ContentPart[] => {
    return part.type === 'tool-result' ? part.content : [part]
  })
  const text = parts.reduce((sum, part) => sum + estimatePart(part), MESSAGE_TOKENS)
  const images = parts.filter((part): part is ImagePart => part.type === 'image')
  const weight = { text, images: images.map(({ blob }) => blob) }
  messages.set(message, weight)
  return weight
}

function estimatePart(part: ContentPart): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return estimateTokens(part.text)
    case 'tool-call':
      return estimateTokens(part.name) + estimateTokens(part.arguments)
    default:
      return 0
  }
}
