import type { ContentPart, TextPart, ToolCallPart } from './content.ts'

/**
 * Who put a message into the conversation. `user` is text a person typed; everything that a
 * plugin injects names its row, so that no frontend or search mistakes one for the other.
 */
export type Source =
  /** `typed`: what of the text a person typed, where a program put more to it or wrote it all. */
  | { readonly kind: 'user'; readonly typed?: string }
  | { readonly kind: 'plugin'; readonly row: string; readonly form: PluginForm }
  | { readonly kind: 'model'; readonly provider: string; readonly model: string }
  | { readonly kind: 'tool'; readonly callId: string }

export type PluginForm =
  | 'system'
  | 'instructions'
  | 'catalog'
  | 'snapshot'
  | 'notice'
  | 'relay'
  | 'recall'
  | 'summary'

export type Role = 'system' | 'user' | 'assistant' | 'tool'

/** One message of a conversation. Ids are unique within a session. Frozen once it is logged. */
export interface Message {
  readonly id: string
  readonly role: Role
  readonly content: readonly ContentPart[]
  readonly source: Source
}

/** The text parts of a message, joined without a separator. */
export function textOf(message: Pick<Message, 'content'>): string {
  return message.content
    .filter((part): part is TextPart => part.type === 'text')
    .map((part) => part.text)
    .join('')
}

/** What of a message a person typed: nothing of what anybody else put into the conversation. */
export function typedOf(message: Pick<Message, 'content' | 'source'>): string {
  const { source } = message
  return source.kind === 'user' ? (source.typed ?? textOf(message)) : ''
}

export function toolCallsOf(message: Pick<Message, 'content'>): ToolCallPart[] {
  return message.content.filter((part): part is ToolCallPart => part.type === 'tool-call')
}

/** A message that carries only text. */
export function textMessage(id: string, role: Role, text: string, source: Source): Message {
  return { id, role, content: [{ type: 'text', text }], source }
}
