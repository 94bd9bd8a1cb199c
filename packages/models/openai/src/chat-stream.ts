import type { Usage } from '@cordage/core/message'
import {
  type AnswerReader,
  CallPlaces,
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
type Choice = Loose<OpenAI.ChatCompletionChunk.Choice> & { usage?: OpenAI.CompletionUsage | null }
type CallDelta = Loose<OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall>

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
    const choices = chunk.choices ?? []
    this.#expect(Array.isArray(choices), 'choices that are no list')
    const choice: Choice | undefined = choices[0]
    this.#expect(choice === undefined || isObject(choice), 'a choice that is no object')
    const usage = toUsage(chunk.usage ?? choice?.usage)
    if (usage) yield { type: 'usage', usage }
    // Nobody asked for a second answer.
    if (choice === undefined || choice.index) return
    const delta: Delta = choice.delta ?? {}
    this.#expect(isObject(delta), 'a delta that is no object')
    yield* readText(delta)
    yield* this.#readCalls(delta.tool_calls ?? [])
    if (delta.function_call) yield readCall(this.#name, 0, delta.function_call)
    this.#finish = readFinish(this.#name, choice.finish_reason) ?? this.#finish
  }

  *end(): Iterable<ModelEvent> {
    if (this.#finish !== undefined) yield { type: 'finish', reason: this.#finish }
  }

  *#readCalls(calls: readonly CallDelta[]): Iterable<ModelEvent> {
    this.#expect(Array.isArray(calls), 'tool calls that are no list')
    for (const call of calls) {
      this.#expect(isObject(call) && isObject(call.function ?? {}), 'a tool call that is none')
      const { index, id, function: called } = call
      const place = this.#places.of(index, id)
      yield readCall(this.#name, place, { id, name: called?.name, arguments: called?.arguments })
    }
  }

  #expect(right: boolean, reason: string): void {
    if (!right) throw modelError('MALFORMED_RESPONSE', { model: this.#name, reason })
  }
}

function* readText(delta: Delta): Iterable<ModelEvent> {
  const { reasoning_content, reasoning, content, refusal } = delta
  const thought = reasoning_content || reasoning
  if (typeof thought === 'string' && thought) yield { type: 'reasoning', text: thought }
  const text: unknown = content || refusal
  if (typeof text === 'string') yield { type: 'text', text }
  if (Array.isArray(text)) yield* readParts(text)
}

/** Text as a list of parts, some of them thoughts, which are lists again. */
function* readParts(parts: readonly unknown[]): Iterable<ModelEvent> {
  for (const part of parts) {
    const { text, thinking } = (part ?? {}) as Record<string, unknown>
    if (typeof text === 'string') yield { type: 'text', text }
    if (Array.isArray(thinking)) {
      for (const event of readParts(thinking)) {
        if (event.type === 'text') yield { type: 'reasoning', text: event.text }
      }
    }
  }
}

function toUsage(usage: OpenAI.CompletionUsage | null | undefined): Usage | undefined {
  if (!usage) return undefined
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
