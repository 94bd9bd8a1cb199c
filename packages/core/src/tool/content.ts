import '../credential/index.ts'
import type { Context } from '../kernel/index.ts'
import type { BlobRef, TextPart } from '../message/index.ts'
import type { Session } from '../session/index.ts'
import { escapeNotes, note } from './frame.ts'
import type { ToolContent } from './tool.ts'

const HEAD_SHARE = 0.6

/** What was left out of a result. Counted in UTF-16 units; `blob` has all of it. */
export interface Truncation {
  readonly chars: number
  readonly shownHead: number
  readonly shownTail: number
  readonly blob?: BlobRef
}

export interface CappedContent {
  readonly content: readonly ToolContent[]
  readonly truncated?: Truncation
}

/** Hides the values of known secrets. */
export function redactorOf(ctx: Context): (text: string) => string {
  const credentials = ctx.get('credentials')
  return (text) => credentials?.redact(text) ?? text
}

/** Text without secrets, broken characters, or anything that looks like a note of the harness. */
export function cleanContent(
  content: readonly ToolContent[],
  redact: (text: string) => string,
): ToolContent[] {
  return content.map((part) => {
    if (part.type !== 'text') return part
    return { type: 'text', text: escapeNotes(redact(part.text.toWellFormed())) }
  })
}

/** Keeps the head and the tail of a text that is too long, and all of it in a blob. */
export async function capContent(
  content: readonly ToolContent[],
  maxChars: number,
  session: Pick<Session, 'putBlob'>,
): Promise<CappedContent> {
  const texts = content.filter((part): part is TextPart => part.type === 'text')
  const whole = texts.map(({ text }) => text).join('\n')
  const others = content.filter((part) => part.type !== 'text')
  if (whole.trim() === '' && others.length === 0) {
    return { content: [{ type: 'text', text: note({}, 'The tool gave no output.') }] }
  }
  if (whole.length <= maxChars) return { content }
  const head = cutHead(whole, Math.floor(maxChars * HEAD_SHARE))
  const tail = cutTail(whole, maxChars - head.length)
  const blob = await spill(whole, session)
  const shown = { shownHead: head.length, shownTail: tail.length }
  const truncated = { chars: whole.length, ...shown, ...(blob ? { blob } : {}) }
  const parts = [head, truncationNote(truncated), tail].filter((text) => text !== '')
  const kept: ToolContent[] = parts.map((text) => ({ type: 'text', text }))
  return { content: [...kept, ...others], truncated }
}

function truncationNote({ chars, shownHead, shownTail }: Truncation): string {
  const cut = { leftOut: chars - shownHead - shownTail, of: chars }
  return `\n${note(cut, 'Characters were left out here. Ask for a smaller part to see them.')}\n`
}

async function spill(
  text: string,
  session: Pick<Session, 'putBlob'>,
): Promise<BlobRef | undefined> {
  const bytes = Buffer.from(text, 'utf8')
  try {
    const hash = await session.putBlob(bytes)
    return { hash, bytes: bytes.length, mediaType: 'text/plain; charset=utf-8' }
  } catch {
    // The model gets its head and tail all the same; a full disk shows when the result is logged.
    return undefined
  }
}

/** Never between the halves of a character. */
function cutHead(text: string, chars: number): string {
  const head = text.slice(0, chars)
  return head.isWellFormed() ? head : head.slice(0, -1)
}

function cutTail(text: string, chars: number): string {
  const tail = chars <= 0 ? '' : text.slice(-chars)
  return tail.isWellFormed() ? tail : tail.slice(1)
}
