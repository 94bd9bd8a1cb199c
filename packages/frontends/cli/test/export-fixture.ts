import { createHash } from 'node:crypto'
import type { ContentPart, Source } from '@cordage/core/message'
import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  compactionEnd,
  compactionStart,
  compactionSummary,
  contextMessage,
  sessionTitle,
  stepEnd,
  stepStart,
  systemMessage,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  userMessage,
  type NewFact,
  type SessionHeader,
} from '@cordage/core/session'
import type { Store } from '@cordage/core/store'
import type { ExportedSession } from '../src/export/exported-session.ts'
import { textOf, type ExportFormat } from '../src/export/formats.ts'
import { storedSession } from '../src/export/stored-session.ts'

export const START = 1_800_000_000_000

/** The smallest PNG: one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
export const PNG_HASH = createHash('sha256').update(PNG).digest('hex')
export const image = {
  type: 'image',
  blob: { hash: PNG_HASH, bytes: PNG.length, mediaType: 'image/png' },
} as const

const user = { kind: 'user' } as const
export const model = { kind: 'model', provider: 'p', model: 'big-model' } as const
const place = { turn: 1, step: 1 }

export function said(content: readonly ContentPart[], source: Source = user): NewFact {
  return userMessage({ message: { id: 'u', role: 'user', content, source } })
}

export function answered(content: readonly ContentPart[]): NewFact {
  return assistantMessage({
    ...place,
    attempt: 1,
    message: { id: 'a', role: 'assistant', content, source: model },
    finish: 'stop',
    usage: { inputTokens: 12_345, outputTokens: 678, cacheReadTokens: 10_000 },
    costUsd: 0.0421,
  })
}

export function called(callId: string, name: string, given: unknown): NewFact {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  return toolCall({ ...place, callId, name, arguments: text })
}

export function returned(
  callId: string,
  name: string,
  text: string,
  more: { isError?: boolean; images?: readonly (typeof image)[] } = {},
): NewFact {
  const { isError = false, images = [] } = more
  const content = [{ type: 'text', text } as const, ...images]
  const part = { type: 'tool-result', callId, name, content, isError } as const
  return toolResult({ ...place, callId, name, messageId: `r-${callId}`, part, durationMs: 1234 })
}

export const text = (words: string) => ({ type: 'text', text: words }) as const

/** A turn with something of everything; `hostile` stands wherever somebody else's text may. */
export function wholeTurn(hostile: string): NewFact[] {
  const notice = { kind: 'plugin', row: hostile, form: 'notice' } as const
  const system = { id: 's', role: 'system', content: [text(hostile)], source: user } as const
  return [
    sessionTitle({ title: `Title ${hostile}`, by: 'user' }),
    turnStart({ turn: 1 }),
    stepStart(place),
    systemMessage({ message: system, placement: 'front' }),
    contextMessage({ id: hostile, row: 'r', message: { ...system, role: 'user' } }),
    said([text(`Asked ${hostile}`), image]),
    said([text(hostile)], notice),
    attemptStart({ ...place, attempt: 1 }),
    attemptFailed({
      ...place,
      attempt: 1,
      error: { code: 'SERVER', message: hostile, retryable: true },
      partial: hostile,
    }),
    answered([
      { type: 'reasoning', text: `Thought ${hostile}` },
      text(`# Heading\n\nSome \`code\` and\n\n\`\`\`ts\nconst a = 1\n\`\`\`\n\n${hostile}`),
    ]),
    called('1', 'bash', { command: `echo ${hostile}` }),
    called('2', 'edit', { file_path: hostile, old_string: `a\nb${hostile}`, new_string: 'a\nc' }),
    called('3', hostile, hostile),
    returned('2', 'edit', `--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new ${hostile}`),
    returned('1', 'bash', hostile, { isError: true, images: [image] }),
    { type: 'third-party/event', v: 1, data: { hostile } },
    stepEnd(place),
    compactionStart({ id: 'c' }),
    compactionSummary({
      id: 'c',
      range: { from: 5, to: 6 },
      message: { id: 'sum', role: 'user', content: [text(`Summary ${hostile}`)], source: notice },
    }),
    compactionEnd({ id: 'c' }),
    turnEnd({ turn: 1, reason: 'error', error: { code: 'X', message: hostile } }),
  ]
}

export async function keep(
  store: Store,
  facts: readonly NewFact[],
  header: Partial<SessionHeader> = {},
): Promise<void> {
  const whole = { format: 1, id: 'main', createdAt: START, project: '/project', depth: 0 } as const
  const log = await store.create({ ...whole, ...header })
  await log.putBlob(PNG)
  const placed = facts.map((fact, seq) => ({ seq, time: START + seq * 1000, ...fact }))
  await log.append(placed, { sync: true })
  await log.close()
}

/** What is exported of the session `main`, and what could not be read of it. */
export async function exported(store: Store, format: ExportFormat) {
  const notices: string[] = []
  const log = await store.open('main', { mode: 'read' })
  const session = storedSession(store, log, (notice) => notices.push(notice))
  const whole = await wholeOf(session, format)
  await log.close()
  return { text: whole, notices }
}

export async function wholeOf(session: ExportedSession, format: ExportFormat) {
  const pieces: string[] = []
  for await (const piece of textOf(session, format)) pieces.push(piece)
  return pieces.join('')
}
