import type { Usage } from '@cordage/core/message'
import {
  type AnswerReader,
  modelError,
  type ModelEvent,
  type ModelRequest,
  normaliseHttp,
  readCall,
  readFinish,
  readUsage,
} from '@cordage/core/model'
import type OpenAI from 'openai'
import { makeReplay } from './reasoning-replay.ts'

const cuts = { max_output_tokens: 'max-tokens', content_filter: 'content-filter' }

type StreamEvent = OpenAI.Responses.ResponseStreamEvent
type Response = OpenAI.Responses.Response

/** Reads one answer. A call is known by its place in the output. */
export function createResponsesReader(request: ModelRequest): AnswerReader<StreamEvent> {
  const name = `${request.provider}/${request.model}`
  const progress: Progress = { name, opened: new Set(), piecemeal: new Set(), summary: undefined }
  return { read: (event) => translate(event, progress), end: () => [] }
}

interface Progress {
  /** `<provider>/<model id>` */
  readonly name: string
  readonly opened: Set<number>
  /** Calls whose arguments came in pieces, so that the whole must not be added again. */
  readonly piecemeal: Set<number>
  /** The piece of a summary that arrives, as `item:piece`. */
  summary: string | undefined
}

function* translate(event: StreamEvent, progress: Progress): Iterable<ModelEvent> {
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
      if (event.delta) progress.piecemeal.add(event.output_index)
      yield readCall(progress.name, event.output_index, { arguments: event.delta })
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
      throw failure(event, progress)
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
  return readCall(progress.name, index, { id: item.call_id, name: item.name })
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
    yield readCall(progress.name, index, { arguments: item.arguments })
  }
}

function* finish(response: Response, progress: Progress): Iterable<ModelEvent> {
  const usage = response.usage && toUsage(response.usage)
  if (usage) yield { type: 'usage', usage }
  const cut = readFinish(cuts, response.incomplete_details?.reason)
  if (cut !== undefined && Object.values(cuts).includes(cut)) yield { type: 'finish', reason: cut }
  else if (response.status === 'incomplete') yield { type: 'finish', reason: cut ?? 'incomplete' }
  else yield { type: 'finish', reason: progress.opened.size > 0 ? 'tool-calls' : 'stop' }
}

function toUsage(usage: OpenAI.Responses.ResponseUsage): Usage | undefined {
  return readUsage({
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.input_tokens_details?.cached_tokens,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens,
  })
}

function failure(
  event: OpenAI.Responses.ResponseFailedEvent | OpenAI.Responses.ResponseErrorEvent,
  { name }: Progress,
) {
  const error = event.type === 'error' ? event : event.response.error
  if (!error) return modelError('SERVER', { model: name, reason: 'no reason was given' })
  const { code, message } = error
  return normaliseHttp({ model: name, url: '' }, { body: { error: { code, message } } })
}
