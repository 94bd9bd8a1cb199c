import type { Usage } from '@cordage/core/message'
import {
  type AnswerReader,
  modelError,
  type ModelEvent,
  type ModelRequest,
  readCall,
  readFinish,
  readUsage,
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
  /** `<provider>/<model id>` */
  readonly #name: string
  readonly #places = new CallPlaces()
  #finish: string | undefined

  constructor({ provider, model }: ModelRequest) {
    this.#name = `${provider}/${model}`
  }

  *read(chunk: OpenAI.ChatCompletionChunk): Iterable<ModelEvent> {
    this.#expect(isObject(chunk), 'a chunk that is no object')
    const usage = chunk.usage && toUsage(chunk.usage)
    if (usage) yield { type: 'usage', usage }
    const choices = chunk.choices ?? []
    this.#expect(Array.isArray(choices), 'choices that are no list')
    const [choice] = choices
    if (choice === undefined) return
    this.#expect(isObject(choice), 'a choice that is no object')
    const delta: Delta = choice.delta ?? {}
    this.#expect(isObject(delta), 'a delta that is no object')
    const reasoning = delta.reasoning_content || delta.reasoning
    if (typeof reasoning === 'string' && reasoning) yield { type: 'reasoning', text: reasoning }
    const text = delta.content || delta.refusal
    if (typeof text === 'string') yield { type: 'text', text }
    yield* this.#readCalls(delta.tool_calls ?? [])
    this.#finish = readFinish(finishes, choice.finish_reason) ?? this.#finish
  }

  *end(): Iterable<ModelEvent> {
    if (this.#finish !== undefined) yield { type: 'finish', reason: this.#finish }
  }

  *#readCalls(calls: readonly CallDelta[]): Iterable<ModelEvent> {
    this.#expect(Array.isArray(calls), 'tool calls that are no list')
    for (const call of calls) {
      this.#expect(isObject(call) && isObject(call.function ?? {}), 'a tool call that is none')
      const { index, id, function: called } = call
      const place = this.#places.of(index, typeof id === 'string' ? id : undefined)
      yield readCall(this.#name, place, { id, name: called?.name, arguments: called?.arguments })
    }
  }

  #expect(right: boolean, reason: string): void {
    if (!right) throw modelError('MALFORMED_RESPONSE', { model: this.#name, reason })
  }
}

/** Which call a piece belongs to: servers leave out the index, or give 0 to every call. */
class CallPlaces {
  readonly #byIndex = new Map<number, number>()
  readonly #ids = new Map<number, string>()
  #last = -1
  #current: number | undefined

  of(index: unknown, id: string | undefined): number {
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

  #placeOf(id: string | undefined): number | undefined {
    if (!id) return this.#current
    return [...this.#ids].find(([, other]) => other === id)?.[0]
  }

  #contradicts(place: number, id: string | undefined): boolean {
    const known = this.#ids.get(place)
    return Boolean(id) && known !== undefined && known !== id
  }
}

function toUsage(usage: OpenAI.CompletionUsage): Usage | undefined {
  return readUsage({
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    cacheReadTokens: usage.prompt_tokens_details?.cached_tokens ?? readHits(usage),
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens,
  })
}

// DeepSeek's own name for what the cache served.
function readHits(usage: OpenAI.CompletionUsage & { prompt_cache_hit_tokens?: number }) {
  return usage.prompt_cache_hit_tokens
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
