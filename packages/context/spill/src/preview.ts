import { estimateTokens } from '@cordage/core/model'

/** What may come into a conversation whole, and what is shown of more. */
export interface Limits {
  readonly maxBytes: number
  /** UTF-16 units. */
  readonly maxChars: number
  /** The share of the window, in tokens. */
  readonly maxTokens: number
  readonly previewBytes: number
}

const HEAD_SHARE = 3 / 4
/** Few bytes for a token, so that what is shown keeps to its share of a small window. */
const BYTES_PER_TOKEN = 2

export function isTooLarge(text: string, { maxBytes, maxChars, maxTokens }: Limits): boolean {
  if (text.length > maxChars || Buffer.byteLength(text) > maxBytes) return true
  // A token has at least one unit in any script that fills windows.
  return text.length > maxTokens / 4 && estimateTokens(text) > maxTokens
}

/** The two ends of a text that is too large, within whole characters. */
export function endsOf(bytes: Buffer, { previewBytes, maxTokens }: Limits) {
  const room = roomFor(maxTokens, previewBytes)
  const headEnd = characterAt(bytes, Math.floor(room * HEAD_SHARE))
  const tailStart = Math.max(headEnd, characterAt(bytes, bytes.length - (room - headEnd)))
  return {
    head: bytes.toString('utf8', 0, headEnd),
    tail: bytes.toString('utf8', tailStart),
    leftOut: tailStart - headEnd,
  }
}

/** Bytes that take no more than so many tokens, and no more than `mostBytes`. */
export function roomFor(maxTokens: number, mostBytes: number): number {
  return Math.min(mostBytes, Math.floor(maxTokens * BYTES_PER_TOKEN))
}

/** Where the character of valid UTF-8 begins that byte `at` belongs to. */
export function characterAt(bytes: Uint8Array, at: number): number {
  let start = Math.max(0, Math.min(at, bytes.length))
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1
  return start
}
