import type { Usage } from '@cordage/core/message'
import {
  type AnswerReader,
  CallPlaces,
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

type StreamEvent = OpenAI.Responses.ResponseStreamEvent
type Response = OpenAI.Responses.Response

/** Reads one answer. */
export function createResponsesReader(request: ModelRequest): AnswerReader<StreamEvent> {
  const progress: Progress = {
    name: `${request.provider}/${request.model}`,
    places: new CallPlaces(),
    opened: new Set(),
    piecemeal: new Set(),
    summary: undefined,
    over: false,
  }
  return {
    get over() {
      return progress.over
    },
    read: (event) => translate(event, progress),
    end: () => [],
  }
}

interface Progress {
  /** `<provider>/<model id>` */
  readonly name: string
  readonly places: CallPlaces
  readonly opened: Set<number>
  /** Calls whose arguments came in pieces, so that the whole must not be added again. */
  readonly piecemeal: Set<number>
  /** The piece of a summary that arrives, as `item:piece`. */
  summary: string | undefined
  over: boolean
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
      yield openCall(
        progress.places.open(event.output_index, event.item.call_id),
        event.item,
        progress,
      )
      return
    case 'response.function_call_arguments.delta': {
      const place = progress.places.of(event.output_index, undefined)
      if (event.delta) progress.piecemeal.add(place)
      yield readCall(progress.name, place, { arguments: event.delta })
      return
    }
    case 'response.output_item.done':
      yield* closeItem(event, progress)
      return
    case 'response.completed':
    case 'response.incomplete':
      yield* finish(event.response, progress)
      progress.over = true
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
  place: number,
  item: OpenAI.Responses.ResponseFunctionToolCall,
  progress: Progress,
): ModelEvent {
  progress.opened.add(place)
  return readCall(progress.name, place, { id: item.call_id, name: item.name })
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
  if (item.type !== 'function_call') return
  const place = progress.places.of(index, item.call_id)
  if (!progress.opened.has(place)) yield openCall(place, item, progress)
  if (progress.piecemeal.has(place)) return
  progress.piecemeal.add(place)
  yield readCall(progress.name, place, { arguments: item.arguments })
}

function* finish(response: Response, progress: Progress): Iterable<ModelEvent> {
  const usage = response.usage && toUsage(response.usage)
  if (usage) yield { type: 'usage', usage }
  const calls = progress.opened.size > 0
  const whole = calls ? 'tool-calls' : 'stop'
  const cut = readFinish(progress.name, response.incomplete_details?.reason)
  yield { type: 'finish', reason: response.status === 'incomplete' ? (cut ?? 'incomplete') : whole }
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
