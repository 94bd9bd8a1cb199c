import { setTimeout as sleep } from 'node:timers/promises'
import type { Usage } from '@cordage/core/message'
import {
  estimateMessage,
  estimateTokens,
  modelError,
  type ModelEvent,
  type ModelInfo,
  type ModelProvider,
  type ModelRequest,
} from '@cordage/core/model'
import { chooseStep } from './choose.ts'
import type { Library } from './library.ts'
import type { Step } from './script.ts'

const PIECE_CHARACTERS = 16

/** Plays what was recorded: `scripted/<name>` answers with the run of that name. */
export function createProvider(library: Library): ModelProvider {
  const failed = new Map<Step, number>()
  return {
    id: 'scripted',
    displayName: 'Recorded runs (no model)',
    api: 'scripted',
    scripted: true,
    // Nobody gets recorded answers without asking for them.
    available: () => false,
    info: describeScript,
    declared: () => library.names().map(describeScript),
    list: async () => library.names(),
    body: async ({ model, params, tools, messages }) => ({
      model,
      params,
      tools,
      messages: messages.map(({ message }) => message),
    }),
    stream: async function* (request, _body, { signal }) {
      signal.throwIfAborted()
      const script = library.find(request.model)
      const step = chooseStep(
        script,
        request.messages.map(({ message }) => message),
      )
      failIfDue(step, request, failed)
      yield* play(step, request, signal)
    },
  }
}

function describeScript(id: string): ModelInfo {
  return {
    id,
    contextWindow: 1_000_000,
    maxTokens: 65_536,
    input: ['text', 'image'],
    price: { input: 0, output: 0 },
    declared: true,
  }
}

function failIfDue(step: Step, { model }: ModelRequest, failed: Map<Step, number>): void {
  if (step.fail === undefined) return
  const count = failed.get(step) ?? 0
  if (step.failures !== undefined && count >= step.failures) return
  failed.set(step, count + 1)
  throw modelError(step.fail, { model: `scripted/${model}`, reason: 'recorded' })
}

async function* play(
  step: Step,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  for (const type of ['reasoning', 'text'] as const) {
    for (const text of splitPieces(step[type] ?? '')) {
      if (step.delayMs > 0) await pause(step.delayMs, signal)
      signal.throwIfAborted()
      yield { type, text }
    }
  }
  for (const [index, call] of step.calls.entries()) {
    // Ids count on through the whole history, so that no two calls share one.
    const id = `call_${countCalls(request) + index + 1}`
    yield { type: 'tool-call', index, id, name: call.name }
    for (const piece of splitPieces(JSON.stringify(call.arguments))) {
      yield { type: 'tool-call', index, arguments: piece }
    }
  }
  signal.throwIfAborted()
  yield { type: 'usage', usage: usageOf(step, request) }
  yield { type: 'finish', reason: step.finish ?? (step.calls.length > 0 ? 'tool-calls' : 'stop') }
}

// The same reason as everywhere: what the signal carries, not the timer's own error.
async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(delayMs, undefined, { signal })
  } catch {
    // Only the signal ends a sleep early, and it is asked next.
  }
}

function splitPieces(text: string): string[] {
  const pieces: string[] = []
  let piece = ''
  for (const character of text) {
    piece += character
    if (piece.length < PIECE_CHARACTERS) continue
    pieces.push(piece)
    piece = ''
  }
  return piece === '' ? pieces : [...pieces, piece]
}

function countCalls({ messages }: ModelRequest): number {
  return messages.reduce((count, { message }) => {
    return count + message.content.filter((part) => part.type === 'tool-call').length
  }, 0)
}

function usageOf(step: Step, { messages }: ModelRequest): Usage {
  if (step.usage) {
    const { cacheReadTokens, ...usage } = step.usage
    return cacheReadTokens === undefined ? usage : { ...usage, cacheReadTokens }
  }
  const written = `${step.reasoning ?? ''}${step.text ?? ''}${JSON.stringify(step.calls)}`
  return {
    inputTokens: messages.reduce((sum, { message }) => sum + estimateMessage(message), 0),
    outputTokens: estimateTokens(written),
    estimated: true,
  }
}
