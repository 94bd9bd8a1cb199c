import type { HarnessError } from '../error/index.ts'
import { describeFailure, log } from '../kernel/index.ts'
import { newId, type BlobRef, type ToolCallPart } from '../message/index.ts'
import { toolResult } from '../session/index.ts'
import type { ToolBatch } from './tool-batch.ts'
import { capContent, cleanContent, redactorOf, type CappedContent } from './content.ts'
import { jsonBytes, jsonPieces } from './json-pieces.ts'
import { finalizeContent, resultNotice, type FinalCall, type Rendering } from './hooks.ts'
import { isContent } from './render.ts'
import { settle } from './settle.ts'
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
  const isError = 'error' in ending || ending.isError
  const error =
    'error' in ending
      ? { code: ending.error.code, message: redact(ending.error.message) }
      : undefined
  const durationMs = batch.clock.now() - startedAt
  const value = 'error' in ending ? undefined : redactValue(ending.value, redact)
  const clean = { session, call, content: cleanContent(shown, redact), isError, value }
  const { content, truncated } = await finalContent(batch, Object.freeze(clean), maxChars)
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

/** What the hooks make of it; a result is logged whatever becomes of them. */
async function finalContent(
  batch: ToolBatch,
  ended: FinalCall,
  maxChars: number,
): Promise<CappedContent> {
  const { ctx, scope, session } = batch
  const cap = () => capContent(ended.content, maxChars, session)
  const settled = await settle(() => finalizeContent.run(ctx, ended, cap, scope), batch)
  if (settled.kind === 'value' && isCapped(settled.value)) return settled.value
  if (settled.kind === 'error') {
    const error = describeFailure(settled.error)
    log(ctx, 'error', 'tools/finalize-content failed', { error })
  }
  return cap()
}

/** Handlers are plugins: what they give is looked at. */
function isCapped(given: CappedContent | undefined): given is CappedContent {
  return Array.isArray(given?.content) && given.content.every(isContent)
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
  if (isShort(value, maxChars)) return value
  try {
    const bytes = jsonBytes(value)
    const hash = await session.putBlob(bytes)
    return { hash, bytes: bytes.length, mediaType: 'application/json' } satisfies BlobRef
  } catch {
    // The result matters more than its full value; a full disk shows when the result is logged.
    return undefined
  }
}

function isShort(value: unknown, maxChars: number): boolean {
  let chars = 0
  for (const piece of jsonPieces(value)) {
    chars += piece.length
    if (chars > maxChars) return false
  }
  return true
}
