import { describe } from '@cordage/core/error'
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
  createAssembler,
  estimateTokens,
  type ModelRequest,
  type RequestMessage,
  type ResolvedModel,
} from '@cordage/core/model'
import type { Session, ToolSpec } from '@cordage/core/session'
import type { CompactionConfig } from './config.ts'
import { DEFAULT_SUMMARY_PROMPT } from './prompt.ts'
import { readSnapshot } from './snapshot.ts'

export interface Question {
  readonly model: ResolvedModel
  readonly session: Session
  readonly messages: readonly RequestMessage[]
  readonly tools: readonly ToolSpec[]
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
  { model, session, messages, tools, signal }: Question,
  config: CompactionConfig,
  bill: Bill,
): Promise<Answered> {
  const { route, provider, info } = model
  const { summary, summaryPrompt = DEFAULT_SUMMARY_PROMPT } = config
  const params = { ...summary, maxTokens: Math.min(summary.maxTokens, info.maxTokens) }
  const request: ModelRequest = {
    provider,
    model: model.model,
    messages: [...messages, { message: instruction(summaryPrompt) }],
    tools,
    params,
    getBlob: (hash) => session.getBlob(hash),
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(config.summaryTimeoutMs)])
  const assembler = createAssembler({ model: `${provider}/${model.model}`, tools })
  let body: unknown
  try {
    body = await route.body(request)
    for await (const event of route.stream(request, body, { signal: limit })) assembler.push(event)
  } catch (error) {
    signal.throwIfAborted()
    return { reason: limit.aborted ? 'TIMEOUT' : describe(error).code }
  } finally {
    charge(bill, model, assembler.finish(), body)
  }
  return judge(assembler.finish(), messages)
}

type Whole = ReturnType<ReturnType<typeof createAssembler>['finish']>

/** Everything but a whole snapshot that is shorter than what it stands for has failed. */
function judge(answer: Whole, messages: readonly RequestMessage[]): Answered {
  if (answer.finish === undefined) return { reason: 'STREAM_CLOSED' }
  if (answer.truncated || answer.finish === 'max-tokens') return { reason: 'summary_cut' }
  if (answer.content.some(({ type }) => type === 'tool-call'))
    return { reason: 'summary_tool_calls' }
  const text = textOf(answer)
  if (text.trim() === '') return { reason: 'summary_empty' }
  const snapshot = readSnapshot(text)
  if (snapshot === undefined) return { reason: 'summary_malformed' }
  const source = messages.reduce((sum, { message }) => sum + lengthOf(message), 0)
  return snapshot.length < source ? { snapshot } : { reason: 'summary_too_long' }
}

function lengthOf({ content }: Pick<Message, 'content'>): number {
  return content.reduce((sum, part) => {
    if (part.type === 'tool-result') return sum + textOf(part).length
    if (part.type === 'tool-call') return sum + part.arguments.length
    return sum + ('text' in part ? part.text.length : 0)
  }, 0)
}

function charge(bill: Bill, { info }: ResolvedModel, answer: Whole, body: unknown): void {
  if (body === undefined) return
  const usage: Usage = answer.usage ?? {
    inputTokens: estimateTokens(JSON.stringify(body)),
    outputTokens: estimateTokens(textOf(answer)),
    estimated: true,
  }
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
