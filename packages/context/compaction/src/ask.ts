import { describe } from '@cordage/core/error'
import type { Scope } from '@cordage/core/kernel'
import {
  addUsage,
  costOf,
  newId,
  textMessage,
  textOf,
  type Message,
  type Usage,
} from '@cordage/core/message'
import {
  callModel,
  type Assembled,
  type ModelRequest,
  type RequestMessage,
  type ResolvedModel,
} from '@cordage/core/model'
import type { Session, ToolSpec } from '@cordage/core/session'
import { summaryCap } from './budget.ts'
import type { CompactionConfig } from './config.ts'
import { DEFAULT_SUMMARY_PROMPT } from './prompt.ts'
import { readSnapshot } from './snapshot.ts'

export interface Question {
  readonly model: ResolvedModel
  readonly session: Session
  readonly scope: Scope
  readonly messages: readonly RequestMessage[]
  readonly tools: readonly ToolSpec[]
  /** Of all that the snapshot is to stand for, which may be more than is asked about at once. */
  readonly sourceChars: number
  readonly signal: AbortSignal
}

/** What the calls for one summary have used together. */
export interface Bill {
  usage: Usage | undefined
  costUsd: number | undefined
}

export type Answered =
  | { readonly snapshot: string; readonly reason?: undefined }
  | { readonly snapshot?: undefined; readonly reason: string }

/** Asks once for a snapshot. Whatever is wrong with the answer is its reason. */
export async function askForSnapshot(
  { model, session, scope, messages, tools, sourceChars, signal }: Question,
  config: CompactionConfig,
  bill: Bill,
): Promise<Answered> {
  const { summary, summaryPrompt = DEFAULT_SUMMARY_PROMPT } = config
  const request: ModelRequest = {
    provider: model.provider,
    model: model.model,
    messages: [...messages, { message: instruction(summaryPrompt) }],
    tools,
    params: { ...summary, maxTokens: summaryCap(model.info, config) },
    getBlob: (hash) => session.getBlob(hash),
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(config.summaryTimeoutMs)])
  const input = { sessionId: session.id, purpose: 'summary', model, request, signal: limit }
  const { answer, error } = await callModel(scope, input)
  charge(bill, model, answer)
  signal.throwIfAborted()
  if (error === undefined) return judge(answer, sourceChars)
  return { reason: limit.aborted ? 'TIMEOUT' : describe(error).code }
}

/** Everything but a whole snapshot that is shorter than what it stands for has failed. */
function judge(answer: Assembled, sourceChars: number): Answered {
  if (answer.finish === undefined) return { reason: 'STREAM_CLOSED' }
  if (answer.truncated || answer.finish === 'max-tokens') return { reason: 'summary_cut' }
  if (answer.content.some(({ type }) => type === 'tool-call'))
    return { reason: 'summary_tool_calls' }
  const text = textOf(answer)
  if (text.trim() === '') return { reason: 'summary_empty' }
  const snapshot = readSnapshot(text)
  if (snapshot === undefined) return { reason: 'summary_malformed' }
  return snapshot.length < sourceChars ? { snapshot } : { reason: 'summary_too_long' }
}

function charge(bill: Bill, { info }: ResolvedModel, { usage }: Assembled): void {
  if (!usage) return
  bill.usage = bill.usage ? addUsage(bill.usage, usage) : usage
  const cost = costOf(usage, info.price)
  if (cost !== undefined) bill.costUsd = (bill.costUsd ?? 0) + cost
}

function instruction(prompt: string): Message {
  const source = { kind: 'plugin', row: 'context-compaction', form: 'notice' } as const
  return textMessage(newId(), 'user', prompt, source)
}

/** Codes after which the same call may work. */
export function mayWorkLater(reason: string): boolean {
  const codes = ['TIMEOUT', 'RATE_LIMIT', 'SERVER', 'TRANSPORT', 'STREAM_CLOSED', 'EMPTY_RESPONSE']
  return codes.includes(reason) || reason.startsWith('summary_')
}
