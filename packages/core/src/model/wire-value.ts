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

/** The finish that `names` has for a word of a protocol; other words pass, all else is absent. */
export function readFinish(
  names: Readonly<Record<string, string>>,
  word: unknown,
): string | undefined {
  if (typeof word !== 'string' || word === '') return undefined
  return Object.hasOwn(names, word) ? names[word] : word
}
