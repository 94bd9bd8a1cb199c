import type { Usage } from '@cordage/core/message'
import { CodexItems } from './codex-items.ts'
import type { Entry } from './entry.ts'
import type { LeftBehind } from './left-behind.ts'
import { recordsOf } from './lines.ts'
import { countIn, isRecord, recordIn, textIn, timeIn, type Loose } from './loose.ts'

const wrapped = new Set(['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted'])

/** Whether a line is of a rollout of Codex (0.2 to 0.60; the oldest have bare items). */
export function isCodex(value: Loose): boolean {
  if (wrapped.has(textIn(value['type']) ?? '')) return isRecord(value['payload'])
  return 'instructions' in value && 'id' in value && 'timestamp' in value && !('type' in value)
}

/** A rollout: items of the Responses API as they were sent and received, and events about them. */
export async function* readCodex(path: string, left: LeftBehind): AsyncGenerator<Entry> {
  const items = new CodexItems(left)
  let counted = ''
  for await (const { value } of recordsOf(path, left)) {
    const time = timeIn(value['timestamp'])
    const payload = wrapped.has(textIn(value['type']) ?? '') ? recordIn(value['payload']) : value
    switch (value['type']) {
      case undefined:
      case 'session_meta':
        yield { kind: 'about', session: textIn(payload['id']), cwd: textIn(payload['cwd']) }
        items.provider = textIn(payload['model_provider']) ?? items.provider
        break
      case 'turn_context':
        yield { kind: 'about', cwd: textIn(payload['cwd']) }
        items.model = textIn(payload['model']) ?? items.model
        break
      case 'compacted':
        if ('replacement_history' in payload) left.add('histories kept by a summary', '')
        yield { kind: 'summary', text: textIn(payload['message']) ?? '', time }
        break
      case 'event_msg': {
        const total = JSON.stringify(recordIn(payload['info'])['total_token_usage'])
        const usage = payload['type'] === 'token_count' ? usageIn(payload) : undefined
        // The same count comes again with news about limits.
        if (usage && total !== counted) yield { kind: 'usage', usage, time }
        if (usage) counted = total
        yield* eventEntries(payload, time, left)
        break
      }
      default:
        yield* items.entries(payload, time)
    }
  }
}

function usageIn(payload: Loose): Usage | undefined {
  const last = recordIn(recordIn(payload['info'])['last_token_usage'])
  if (typeof last['input_tokens'] !== 'number') return undefined
  return {
    inputTokens: countIn(last['input_tokens']),
    outputTokens: countIn(last['output_tokens']),
    cacheReadTokens: countIn(last['cached_input_tokens']),
    reasoningTokens: countIn(last['reasoning_output_tokens']),
  }
}

/** Events that repeat what items say. */
const repeating = new Set([
  'user_message',
  'agent_message',
  'agent_reasoning',
  'agent_reasoning_section_break',
  'token_count',
  'task_started',
  'context_compacted',
])

function eventEntries(payload: Loose, time: number | undefined, left: LeftBehind): Entry[] {
  const type = textIn(payload['type']) ?? ''
  const message = textIn(payload['message']) ?? ''
  if (type === 'turn_aborted') return [{ kind: 'end', reason: 'aborted', time }]
  if (type === 'task_complete') return [{ kind: 'end', reason: 'completed', time }]
  if (type === 'error' || type === 'stream_error') {
    return [{ kind: 'failed', code: 'IMPORTED_FAILURE', message, time }]
  }
  if (!repeating.has(type)) left.add('events', type)
  return []
}
