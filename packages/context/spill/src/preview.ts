import { estimateTokens } from '@cordage/core/model'
import { textEnds } from '@cordage/core/tool'

/** What may come into a conversation whole, and what is shown of more. */
export interface Limits {
  readonly maxBytes: number
  /** UTF-16 units. */
  readonly maxChars: number
  /** The share of the window, in tokens. */
  readonly maxTokens: number
  readonly previewBytes: number
}

/** Few bytes for a token, so that what is shown keeps to its share of a small window. */
const BYTES_PER_TOKEN = 2

export function isTooLarge(text: string, { maxBytes, maxChars, maxTokens }: Limits): boolean {
  if (text.length > maxChars || Buffer.byteLength(text) > maxBytes) return true
  // A token has at least one unit in any script that fills windows.
  return text.length > maxTokens / 4 && estimateTokens(text) > maxTokens
}

/** The two ends of a text that is too large. */
export function endsOf(bytes: Buffer, { previewBytes, maxTokens }: Limits) {
  return textEnds(bytes, roomFor(maxTokens, previewBytes))
}

/** Bytes that take no more than so many tokens, and no more than `mostBytes`. */
export function roomFor(maxTokens: number, mostBytes: number): number {
  return Math.min(mostBytes, Math.floor(maxTokens * BYTES_PER_TOKEN))
}
