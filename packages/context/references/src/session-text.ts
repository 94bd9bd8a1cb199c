import { createHash } from 'node:crypto'
import { textOf, typedOf, type Message } from '@cordage/core/message'
import type { SurfaceEntry } from '@cordage/core/session'
import { characterAt, escapeNotes, frame } from '@cordage/core/tool'

/** What was said in a session, as its frames. */
export interface SessionText {
  readonly bytes: Buffer
  /** Part of each tag, so that nothing that was said can name the end of its frame. */
  readonly digest: string
  /** Messages at its beginning for which there was no room. */
  readonly older: number
}

/** What the frame of one message takes. */
const FRAME_BYTES = 64

interface Said {
  readonly by: 'user' | 'assistant' | 'summary'
  readonly text: string
}

/**
 * What people typed, what models answered and what summaries stand for older history, the latest
 * first within `maxBytes`: no call and no result, no reasoning, and nothing that was injected, so
 * that what another session had from a third one goes no further.
 */
export function sessionText(
  surface: readonly SurfaceEntry[],
  { maxBytes, clean }: { maxBytes: number; clean: (text: string) => string },
): SessionText {
  const latest: Said[] = []
  let room = maxBytes
  let older = 0
  for (const { message } of surface.toReversed()) {
    const said = saidIn(message)
    if (said && room <= 0) older += 1
    if (!said || room <= 0) continue
    const bytes = Buffer.from(escapeNotes(clean(said.text)))
    const start = characterAt(bytes, bytes.length - room)
    latest.push({ by: said.by, text: `${start > 0 ? '…' : ''}${bytes.toString('utf8', start)}` })
    room -= bytes.length + FRAME_BYTES
  }
  const digest = createHash('sha256').update(JSON.stringify(latest)).digest('hex').slice(0, 12)
  const frames = latest.map(({ by, text }) => frame(`said-${digest}`, { by }, text))
  return { bytes: Buffer.from(frames.toReversed().join('\n')), digest, older }
}

function saidIn(message: Message): Said | undefined {
  const { role, source } = message
  const text = source.kind === 'user' ? typedOf(message) : textOf(message)
  if (text.trim() === '') return undefined
  if (source.kind === 'user') return { by: 'user', text }
  if (source.kind === 'model' && role === 'assistant') return { by: 'assistant', text }
  if (source.kind === 'plugin' && source.form === 'summary') return { by: 'summary', text }
  return undefined
}
