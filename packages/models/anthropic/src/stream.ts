import type Anthropic from '@anthropic-ai/sdk'
import {
  type AnswerReader,
  CallPlaces,
  type ModelEvent,
  type ModelRequest,
  readCall,
  readFinish,
  readTokens,
  readUsage,
} from '@cordage/core/model'
import type { ThinkingReplay } from './thinking-replay.ts'

/** What a message reports of its tokens, now and then. */
interface Reported {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null
}

/** What has been reported so far. */
type Counts = Readonly<Record<string, number>>

interface Progress {
  /** `<provider>/<model id>` */
  readonly name: string
  readonly places: CallPlaces
  counts: Counts
  reason: string | undefined
  over: boolean
}

type StreamEvent = Anthropic.RawMessageStreamEvent

/** Reads one answer. The finish comes last and only after a stop reason. */
export function createMessageReader({ provider, model }: ModelRequest): AnswerReader<StreamEvent> {
  const progress: Progress = {
    name: `${provider}/${model}`,
    places: new CallPlaces(),
    counts: {},
    reason: undefined,
    over: false,
  }
  return {
    get over() {
      return progress.over
    },
    read: (event) => translate(event, progress),
    end: () => finish(progress),
  }
}

function* translate(event: StreamEvent, progress: Progress): Iterable<ModelEvent> {
  switch (event.type) {
    case 'message_start':
      yield* addUsage(progress, event.message?.usage)
      return
    case 'content_block_start':
      yield* openBlock(event, progress)
      return
    case 'content_block_delta':
      yield* readDelta(event, progress)
      return
    case 'message_delta':
      yield* addUsage(progress, event.usage)
      progress.reason = readFinish(progress.name, event.delta?.stop_reason) ?? progress.reason
      return
    case 'message_stop':
      progress.over = true
  }
}

function* finish({ reason }: Progress): Iterable<ModelEvent> {
  if (reason !== undefined) yield { type: 'finish', reason }
}

function* openBlock(
  { index, content_block: block }: Anthropic.RawContentBlockStartEvent,
  { name, places }: Progress,
): Iterable<ModelEvent> {
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
      const input = whole ? { arguments: block.input } : {}
      const place = places.open(index, block.id)
      yield readCall(name, place, { id: block.id, name: block.name, ...input })
    }
  }
}

function* readDelta(
  { index, delta }: Anthropic.RawContentBlockDeltaEvent,
  { name, places }: Progress,
): Iterable<ModelEvent> {
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
      yield readCall(name, places.of(index, undefined), { arguments: delta.partial_json })
  }
}

// Counts are cumulative: a later one replaces an earlier, one that counts nothing keeps it.
function* addUsage(
  progress: Progress,
  reported: Reported | null | undefined,
): Iterable<ModelEvent> {
  const figures = {
    fresh: reported?.input_tokens,
    read: reported?.cache_read_input_tokens,
    written: reported?.cache_creation_input_tokens,
    output: reported?.output_tokens,
    thinking: reported?.output_tokens_details?.thinking_tokens,
  }
  const given = Object.entries(figures).filter(([, count]) => readTokens(count) !== undefined)
  progress.counts = { ...progress.counts, ...(Object.fromEntries(given) as Counts) }
  const { fresh, read, written, output, thinking } = progress.counts
  const usage = readUsage({
    inputTokens: fresh === undefined ? undefined : fresh + (read ?? 0) + (written ?? 0),
    outputTokens: output,
    cacheReadTokens: read,
    cacheWriteTokens: written,
    reasoningTokens: thinking,
  })
  if (usage) yield { type: 'usage', usage }
}
