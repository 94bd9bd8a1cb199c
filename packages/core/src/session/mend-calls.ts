import type { ContentPart, Message } from '../message/index.ts'

/**
 * The message with texts where a tool call of an old log holds something else, because nobody had
 * checked what a server sent. The same object where nothing is wrong.
 */
export function mendCalls(message: Message): Message {
  if (!message.content.some((part) => isBroken(part))) return message
  const content = message.content.map((part) => (isBroken(part) ? mend(part) : part))
  return Object.freeze({ ...message, content: Object.freeze(content) })
}

type Call = Extract<ContentPart, { type: 'tool-call' }>

function isBroken(part: ContentPart): part is Call {
  if (part.type !== 'tool-call') return false
  return [part.id, part.name, part.arguments].some((value) => typeof value !== 'string')
}

function mend({ wireId, ...call }: Call): Call {
  return Object.freeze({
    ...call,
    id: asText(call.id),
    name: asText(call.name),
    arguments: asText(call.arguments),
    ...(typeof wireId === 'string' ? { wireId } : {}),
  })
}

/** A text as it is, and the JSON of what stands in the place of one. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
