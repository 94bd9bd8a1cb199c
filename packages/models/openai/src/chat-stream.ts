import type { Usage } from '@cordage/core/message'
import {
  type AnswerReader,
  modelError,
  type ModelEvent,
  type ModelRequest,
} from '@cordage/core/model'
import type OpenAI from 'openai'

// Compatible servers leave out, rename and add fields, so everything is read as optional.
type Loose<T> = { [K in keyof T]?: T[K] | null }
type Delta = Loose<OpenAI.ChatCompletionChunk.Choice.Delta> & {
  reasoning_content?: string | null
  reasoning?: string | null
}
type CallDelta = Loose<OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall>

const finishes: Record<string, string> = {
  stop: 'stop',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  length: 'max-tokens',
  content_filter: 'content-filter',
}

/** Reads one answer; the finish comes last, because servers send the usage after it. */
export class ChatReader implements AnswerReader<OpenAI.ChatCompletionChunk> {
  readonly #request: ModelRequest
  readonly #places = new CallPlaces()
  #finish: string | undefined

  constructor(request: ModelRequest) {
    this.#request = request
  }

  *read(chunk: OpenAI.ChatCompletionChunk): Iterable<ModelEvent> {
    assertObject(chunk, this.#request)
    if (chunk.usage) yield { type: 'usage', usage: toUsage(chunk.usage) }
    const choice = chunk.choices?.[0]
    if (!choice) return
    const delta: Delta = choice.delta ?? {}
    const reasoning = delta.reasoning_content || delta.reasoning
    if (typeof reasoning === 'string' && reasoning) yield { type: 'reasoning', text: reasoning }
    const text = delta.content || delta.refusal
    if (typeof text === 'string') yield { type: 'text', text }
    for (const call of delta.tool_calls ?? []) yield toCallEvent(call, this.#places.of(call))
    if (choice.finish_reason) this.#finish = choice.finish_reason
  }

  *end(): Iterable<ModelEvent> {
    const finish = this.#finish
    if (finish !== undefined) yield { type: 'finish', reason: finishes[finish] ?? finish }
  }
}

/** Which call a piece belongs to: servers leave out the index, or give 0 to every call. */
class CallPlaces {
  readonly #byIndex = new Map<number, number>()
  readonly #ids = new Map<number, string>()
  #last = -1
  #current: number | undefined

  of({ index, id }: CallDelta): number {
    const known = typeof index === 'number' ? this.#byIndex.get(index) : this.#placeOf(id)
    if (known !== undefined && !this.#contradicts(known, id)) {
      if (id) this.#ids.set(known, id)
      return (this.#current = known)
    }
    const place = (this.#last += 1)
    if (typeof index === 'number') this.#byIndex.set(index, place)
    if (id) this.#ids.set(place, id)
    return (this.#current = place)
  }

  #placeOf(id: string | null | undefined): number | undefined {
    if (!id) return this.#current
    return [...this.#ids].find(([, other]) => other === id)?.[0]
  }

  #contradicts(place: number, id: string | null | undefined): boolean {
    const known = this.#ids.get(place)
    return Boolean(id) && known !== undefined && known !== id
  }
}

function toCallEvent({ id, function: called }: CallDelta, index: number): ModelEvent {
  const name = called?.name
  const given: unknown = called?.arguments
  const text = typeof given === 'string' ? given : given ? JSON.stringify(given) : undefined
  return {
    type: 'tool-call',
    index,
    ...(id ? { id } : {}),
    ...(name ? { name } : {}),
    ...(text === undefined ? {} : { arguments: text }),
  }
}

function toUsage(usage: OpenAI.CompletionUsage): Usage {
  const { prompt_tokens: inputTokens = 0, completion_tokens: outputTokens = 0 } = usage
  const cached = usage.prompt_tokens_details?.cached_tokens ?? readHits(usage)
  const reasoning = usage.completion_tokens_details?.reasoning_tokens
  return {
    inputTokens,
    outputTokens,
    ...(typeof cached === 'number' ? { cacheReadTokens: cached } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: reasoning } : {}),
  }
}

// DeepSeek's own name for what the cache served.
function readHits(usage: OpenAI.CompletionUsage & { prompt_cache_hit_tokens?: number }) {
  return usage.prompt_cache_hit_tokens
}

function assertObject(chunk: unknown, { provider, model }: ModelRequest): void {
  if (typeof chunk === 'object' && chunk !== null) return
  const reason = 'a chunk that is no object'
  throw modelError('MALFORMED_RESPONSE', { model: `${provider}/${model}`, reason })
}
