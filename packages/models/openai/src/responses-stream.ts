import type { Usage } from '@cordage/core/message'
import {
  type AnswerReader,
  modelError,
  type ModelEvent,
  type ModelRequest,
  normaliseHttp,
} from '@cordage/core/model'
import type OpenAI from 'openai'
import { makeReplay } from './reasoning-replay.ts'

type StreamEvent = OpenAI.Responses.ResponseStreamEvent
type Response = OpenAI.Responses.Response

/** Reads one answer. A call is known by its place in the output. */
export function createResponsesReader(request: ModelRequest): AnswerReader<StreamEvent> {
  const progress: Progress = { opened: new Set(), piecemeal: new Set(), summary: undefined }
  return { read: (event) => translate(event, progress, request), end: () => [] }
}

interface Progress {
  readonly opened: Set<number>
  /** Calls whose arguments came in pieces, so that the whole must not be added again. */
  readonly piecemeal: Set<number>
  /** The piece of a summary that arrives, as `item:piece`. */
  summary: string | undefined
}

function* translate(
  event: StreamEvent,
  progress: Progress,
  request: ModelRequest,
): Iterable<ModelEvent> {
  switch (event.type) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      yield { type: 'text', text: event.delta }
      return
    case 'response.reasoning_text.delta':
      yield { type: 'reasoning', text: event.delta }
      return
    case 'response.reasoning_summary_text.delta':
      yield { type: 'reasoning', text: summaryText(event, progress) }
      return
    case 'response.output_item.added':
      if (event.item.type !== 'function_call') return
      yield openCall(event.output_index, event.item, progress)
      return
    case 'response.function_call_arguments.delta':
      progress.piecemeal.add(event.output_index)
      yield { type: 'tool-call', index: event.output_index, arguments: event.delta }
      return
    case 'response.output_item.done':
      yield* closeItem(event, progress)
      return
    case 'response.completed':
    case 'response.incomplete':
      yield* finish(event.response, progress)
      return
    case 'response.failed':
    case 'error':
      throw failure(event, request)
  }
}

function summaryText(
  event: OpenAI.Responses.ResponseReasoningSummaryTextDeltaEvent,
  progress: Progress,
): string {
  const piece = `${event.output_index}:${event.summary_index}`
  const next = progress.summary !== undefined && progress.summary !== piece
  progress.summary = piece
  return next ? `\n\n${event.delta}` : event.delta
}

function openCall(
  index: number,
  item: OpenAI.Responses.ResponseFunctionToolCall,
  progress: Progress,
): ModelEvent {
  progress.opened.add(index)
  return { type: 'tool-call', index, id: item.call_id, name: item.name }
}

function* closeItem(
  { item, output_index: index }: OpenAI.Responses.ResponseOutputItemDoneEvent,
  progress: Progress,
): Iterable<ModelEvent> {
  if (item.type === 'reasoning') {
    const replay = makeReplay(item)
    if (replay !== undefined) yield { type: 'reasoning', text: '', replay }
    progress.summary = undefined
  }
  if (item.type === 'function_call' && !progress.piecemeal.has(index)) {
    if (!progress.opened.has(index)) yield openCall(index, item, progress)
    yield { type: 'tool-call', index, arguments: item.arguments }
  }
}

function* finish(response: Response, progress: Progress): Iterable<ModelEvent> {
  if (response.usage) yield { type: 'usage', usage: toUsage(response.usage) }
  const cut = response.incomplete_details?.reason
  if (cut === 'max_output_tokens') yield { type: 'finish', reason: 'max-tokens' }
  else if (cut === 'content_filter') yield { type: 'finish', reason: 'content-filter' }
  else if (response.status === 'incomplete') yield { type: 'finish', reason: cut ?? 'incomplete' }
  else yield { type: 'finish', reason: progress.opened.size > 0 ? 'tool-calls' : 'stop' }
}

function toUsage(usage: OpenAI.Responses.ResponseUsage): Usage {
  const cached = usage.input_tokens_details?.cached_tokens
  const reasoning = usage.output_tokens_details?.reasoning_tokens
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    ...(typeof cached === 'number' ? { cacheReadTokens: cached } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: reasoning } : {}),
  }
}

function failure(
  event: OpenAI.Responses.ResponseFailedEvent | OpenAI.Responses.ResponseErrorEvent,
  { provider, model }: ModelRequest,
) {
  const name = `${provider}/${model}`
  const error = event.type === 'error' ? event : event.response.error
  if (!error) return modelError('SERVER', { model: name, reason: 'no reason was given' })
  const { code, message } = error
  return normaliseHttp({ model: name, url: '' }, { body: { error: { code, message } } })
}
