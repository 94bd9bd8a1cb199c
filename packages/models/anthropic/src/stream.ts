import type Anthropic from '@anthropic-ai/sdk'
import type { Usage } from '@cordage/core/message'
import type { AnswerReader, ModelEvent } from '@cordage/core/model'
import type { ThinkingReplay } from './thinking-replay.ts'

const finishes: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'max-tokens',
  model_context_window_exceeded: 'max-tokens',
  refusal: 'content-filter',
}

/** The members that messages report now and then; null as good as absent. */
interface Counts {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null
}

interface Progress {
  counts: Counts
  reason: string | undefined
}

type StreamEvent = Anthropic.RawMessageStreamEvent

/** Reads one answer. The finish comes last and only after a stop reason. */
export function createMessageReader(): AnswerReader<StreamEvent> {
  const progress: Progress = { counts: {}, reason: undefined }
  return { read: (event) => translate(event, progress), end: () => finish(progress) }
}

function* translate(event: StreamEvent, progress: Progress): Iterable<ModelEvent> {
  switch (event.type) {
    case 'message_start':
      yield addUsage(progress, event.message?.usage)
      return
    case 'content_block_start':
      yield* openBlock(event)
      return
    case 'content_block_delta':
      yield* readDelta(event)
      return
    case 'message_delta':
      yield addUsage(progress, event.usage)
      progress.reason = event.delta?.stop_reason ?? progress.reason
  }
}

function* finish({ reason }: Progress): Iterable<ModelEvent> {
  if (reason !== undefined) yield { type: 'finish', reason: finishes[reason] ?? reason }
}

function* openBlock({
  index,
  content_block: block,
}: Anthropic.RawContentBlockStartEvent): Iterable<ModelEvent> {
  switch (block.type) {
    case 'text':
      if (block.text) yield { type: 'text', text: block.text }
      return
    case 'thinking':
      if (block.thinking) yield { type: 'reasoning', text: block.thinking }
      return
    case 'redacted_thinking': {
      const replay: ThinkingReplay = { redacted: block.data }
      yield { type: 'reasoning', text: '', replay }
      return
    }
    case 'tool_use': {
      // Most servers open with an empty input; a few give it whole and send no deltas.
      const whole = Object.keys((block.input as object | null) ?? {}).length > 0
      yield {
        type: 'tool-call',
        index,
        id: block.id,
        name: block.name,
        ...(whole ? { arguments: JSON.stringify(block.input) } : {}),
      }
    }
  }
}

function* readDelta({ index, delta }: Anthropic.RawContentBlockDeltaEvent): Iterable<ModelEvent> {
  switch (delta.type) {
    case 'text_delta':
      yield { type: 'text', text: delta.text }
      return
    case 'thinking_delta':
      yield { type: 'reasoning', text: delta.thinking }
      return
    case 'signature_delta': {
      const replay: ThinkingReplay = { signature: delta.signature }
      yield { type: 'reasoning', text: '', replay }
      return
    }
    case 'input_json_delta':
      yield { type: 'tool-call', index, arguments: delta.partial_json }
  }
}

// Counts are cumulative: a later one replaces an earlier, an absent one keeps it.
function addUsage(progress: Progress, usage: Counts | null | undefined): ModelEvent {
  const given = Object.entries(usage ?? {}).filter(([, count]) => count !== null)
  progress.counts = { ...progress.counts, ...Object.fromEntries(given) }
  return { type: 'usage', usage: toUsage(progress.counts) }
}

function toUsage(counts: Counts): Usage {
  const read = counts.cache_read_input_tokens
  const written = counts.cache_creation_input_tokens
  const thinking = counts.output_tokens_details?.thinking_tokens
  return {
    inputTokens: (counts.input_tokens ?? 0) + (read ?? 0) + (written ?? 0),
    outputTokens: counts.output_tokens ?? 0,
    ...(typeof read === 'number' ? { cacheReadTokens: read } : {}),
    ...(typeof written === 'number' ? { cacheWriteTokens: written } : {}),
    ...(typeof thinking === 'number' ? { reasoningTokens: thinking } : {}),
  }
}
