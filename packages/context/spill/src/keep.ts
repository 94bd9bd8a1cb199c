import { textOf, type Message } from '@cordage/core/message'
import type { Session } from '@cordage/core/session'
import {
  handleOf,
  keepText,
  nameKept,
  note,
  resultText,
  type CappedContent,
  type FinalCall,
  type ToolContent,
} from '@cordage/core/tool'
import { endsOf, isTooLarge, type Limits } from './preview.ts'

/** What of a result the model is shown, where that is not all; the rest is kept. */
export async function spillResult(
  { session, content, value }: FinalCall,
  limits: Limits,
): Promise<CappedContent | undefined> {
  const whole = resultText(content)
  if (!isTooLarge(whole, limits)) return nameOwn(session, content, value)
  const others = content.filter((part) => part.type !== 'text')
  const { text, ...cut } = await spillText(session, whole, limits)
  return {
    content: [{ type: 'text', text }, ...others],
    truncated: { chars: whole.length, ...cut },
  }
}

/** The message as it enters: a text that fills too much of the window is kept, its ends stay. */
export async function spillMessage(
  session: Session,
  message: Message,
  limits: Limits,
): Promise<Message> {
  const whole = textOf(message)
  if (message.source.kind !== 'user' || !isTooLarge(whole, limits)) return message
  const others = message.content.filter((part) => part.type !== 'text')
  const { text } = await spillText(session, whole, limits)
  return { ...message, content: [{ type: 'text', text }, ...others] }
}

async function spillText(session: Session, whole: string, limits: Limits) {
  const bytes = Buffer.from(whole)
  const { head, tail, leftOut } = endsOf(bytes, limits)
  const hash = await keepText(session, bytes)
  const said = { leftOut, of: bytes.length }
  const middle = hash
    ? note({ ...said, handle: handleOf(hash) }, 'Bytes were left out here. read_spill shows them.')
    : note(said, 'Bytes were left out here, and could not be kept: the store failed.')
  const blob = { hash: hash ?? '', bytes: bytes.length, mediaType: 'text/plain; charset=utf-8' }
  return {
    text: `${head}\n${middle}\n${tail}`,
    shownHead: head.length,
    shownTail: tail.length,
    ...(hash ? { blob } : {}),
  }
}

/** A tool that cuts its own output keeps the whole in the `blob` of its value. */
async function nameOwn(
  session: Session,
  content: readonly ToolContent[],
  value: unknown,
): Promise<CappedContent | undefined> {
  const blob = blobIn(value)
  if (!blob) return undefined
  const { hash, bytes } = blob
  await nameKept(session, hash, bytes)
  const text = `\n${note({ handle: handleOf(hash), bytes }, 'All of it is kept: read_spill shows it.')}`
  return { content: [...content, { type: 'text', text }] }
}

function blobIn(value: unknown): { readonly hash: string; readonly bytes: number } | undefined {
  if (typeof value !== 'object' || value === null || !('blob' in value)) return undefined
  const { blob } = value
  if (typeof blob !== 'object' || blob === null || 'mediaType' in blob) return undefined
  if (!('hash' in blob) || !('bytes' in blob)) return undefined
  const { hash, bytes } = blob
  if (typeof hash !== 'string' || typeof bytes !== 'number') return undefined
  return /^[0-9a-f]{64}$/.test(hash) ? { hash, bytes } : undefined
}
