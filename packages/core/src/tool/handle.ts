import { createHash } from 'node:crypto'
import { NOTE_TAG } from './frame.ts'
import type { ToolContent } from './tool.ts'

const CHARS = 12
const NOTED = new RegExp(`<${NOTE_TAG} [^>]*\\bhandle="([0-9a-f]{${CHARS}})"`)

/** The name of a text that a model was not shown whole: how its SHA-256 (hex) begins. */
export function handleOf(hash: string): string {
  return hash.slice(0, CHARS)
}

export function handleOfText(text: string): string {
  return handleOf(createHash('sha256').update(text).digest('hex'))
}

/** The handle in the first note of a result that has one. No tool can have written it. */
export function handleIn(text: string): string | undefined {
  return NOTED.exec(text)?.[1]
}

/** The text of a result as its handle names it. */
export function resultText(content: readonly ToolContent[]): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
