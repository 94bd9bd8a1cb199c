import { characterAt } from '@cordage/core/tool'

/** A part of a text in UTF-8, of whole characters. `end` is where the next one begins. */
export interface Page {
  readonly offset: number
  readonly end: number
  readonly bytes: number
  readonly text: string
}

/** At most `limit` bytes from `from` on, yet at least one character where there is one. */
export function pageOf(bytes: Buffer, from: number, limit: number): Page {
  const offset = characterAt(bytes, from)
  const aligned = characterAt(bytes, offset + limit)
  const end = aligned > offset ? aligned : characterAfter(bytes, offset)
  return { offset, end, bytes: bytes.length, text: bytes.toString('utf8', offset, end) }
}

function characterAfter(bytes: Buffer, at: number): number {
  let end = Math.min(at + 1, bytes.length)
  while (end < bytes.length && characterAt(bytes, end) !== end) end += 1
  return end
}
