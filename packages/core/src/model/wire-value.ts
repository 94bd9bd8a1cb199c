import { modelError } from './errors.ts'
import type { ModelEvent } from './event.ts'

/** What a server sent of one piece of a tool call, before anybody has looked at it. */
export interface CallPiece {
  readonly id?: unknown
  readonly name?: unknown
  readonly arguments?: unknown
}

/**
 * A piece of a tool call as an event. An id that is no text counts as missing, arguments that are
 * data become their JSON; a name that is no text throws `MALFORMED_RESPONSE`. `model` is
 * `<provider>/<model id>`.
 */
export function readCall(model: string, index: number, piece: CallPiece): ModelEvent {
  const { id, name = null } = piece
  if (name !== null && typeof name !== 'string') {
    throw modelError('MALFORMED_RESPONSE', { model, reason: 'the name of a tool is no text' })
  }
  const text = readArguments(piece.arguments)
  return {
    type: 'tool-call',
    index,
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
    ...(name ? { name } : {}),
    ...(text === undefined ? {} : { arguments: text }),
  }
}

function readArguments(given: unknown): string | undefined {
  if (given === null) return ''
  return typeof given === 'string' ? given : JSON.stringify(given)
}

/** The words of all protocols; servers mix them up, so that each may use any. */
const finishes: Readonly<Record<string, string>> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  length: 'max-tokens',
  max_tokens: 'max-tokens',
  max_output_tokens: 'max-tokens',
  model_context_window_exceeded: 'max-tokens',
  content_filter: 'content-filter',
  refusal: 'content-filter',
}

/** Words that say that the server has failed, in the place of an end. */
const failures = ['error', 'network_error', 'insufficient_system_resource']

/**
 * The finish that a word stands for: another word passes, what is more is `other`, what is no word is
 * absent. Throws `SERVER` for one that is no end at all. `model` is `<provider>/<model id>`.
 */
export function readFinish(model: string, word: unknown): string | undefined {
  if (typeof word !== 'string' || word === '') return undefined
  const known = word.toLowerCase()
  if (failures.includes(known)) {
    throw modelError('SERVER', { model, reason: 'the answer ended with an error' })
  }
  if (Object.hasOwn(finishes, known)) return finishes[known]
  return /^[a-z_]{1,30}$/i.test(word) ? word : 'other'
}
