import type { HarnessError } from '../error/index.ts'
import { newId, type BlobRef, type ToolCallPart } from '../message/index.ts'
import { toolResult } from '../session/index.ts'
import type { ToolBatch } from './tool-batch.ts'
import { capContent, cleanContent, redactorOf } from './content.ts'
import { resultNotice, type Rendering } from './hooks.ts'
import type { ToolContent } from './tool.ts'

const DEFAULT_INLINE_CHARS = 30_000

/** How a call ended: with a value and what is shown of it, or with an error. */
export type Ending = ({ readonly value: unknown } & Rendering) | { readonly error: HarnessError }

/** Logs the one result of a call, durably, and announces it. */
export async function logResult(
  batch: ToolBatch,
  call: ToolCallPart,
  ending: Ending,
  startedAt: number,
): Promise<void> {
  const { ctx, session, turn, step } = batch
  const redact = redactorOf(ctx)
  const maxChars = ctx.get('tools')?.maxInlineChars ?? DEFAULT_INLINE_CHARS
  const shown = 'error' in ending ? errorContent(ending.error) : ending.content
  const { content, truncated } = await capContent(cleanContent(shown, redact), maxChars, session)
  const isError = 'error' in ending || ending.isError
  const error =
    'error' in ending
      ? { code: ending.error.code, message: redact(ending.error.message) }
      : undefined
  const durationMs = batch.clock.now() - startedAt
  const value = 'error' in ending ? undefined : redactValue(ending.value, redact)
  const result = {
    turn,
    step,
    callId: call.id,
    name: call.name,
    messageId: newId(),
    durationMs,
    part: { type: 'tool-result', callId: call.id, name: call.name, content, isError } as const,
    ...(error ? { error } : { value: await storedValue(batch, value, maxChars) }),
    ...(truncated ? { truncated } : {}),
  }
  await session.append([toolResult(result)])
  const told = { call, turn, step, sessionId: session.id, content, isError, durationMs }
  resultNotice.emit(ctx, { ...told, ...(error ? { error } : { value }) }, batch.scope)
}

/** Code and sentence, then what does not fit in one: problems of arguments, `details.help`. */
function errorContent({ code, message, details }: HarnessError): ToolContent[] {
  const { problems, help } = details
  const lines = [`${code}: ${message}`]
  if (code === 'INVALID_ARGS' && Array.isArray(problems)) {
    lines.splice(0, 1, `${code}:`, ...problems.map((problem) => `- ${String(problem)}`))
  }
  if (typeof help === 'string') lines.push(help)
  return [{ type: 'text', text: lines.join('\n') }]
}

/** Cleans the strings of a JSON value; a number that looks like a secret stays a number. */
function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((member) => redactValue(member, redact))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  return Object.fromEntries(
    members.map(([key, member]) => [redact(key), redactValue(member, redact)]),
  )
}

/** The value itself where it is small; otherwise where its JSON is kept. */
async function storedValue(
  { session }: ToolBatch,
  value: unknown,
  maxChars: number,
): Promise<unknown> {
  const json = JSON.stringify(value)
  if (json.length <= maxChars) return value
  const bytes = Buffer.from(json, 'utf8')
  try {
    const hash = await session.putBlob(bytes)
    return { hash, bytes: bytes.length, mediaType: 'application/json' } satisfies BlobRef
  } catch {
    // The result matters more than its full value; a full disk shows when the result is logged.
    return undefined
  }
}
