import { textMessage, type ContentPart, type Message } from '@cordage/core/message'
import { assistantMessage, toolResult, userMessage, type SurfaceEntry } from '@cordage/core/session'

/** Short facts and short pictures of surfaces for the tests of the folds. */
export const at = { turn: 1, step: 1 }

export function said(id: string, text = id): Message {
  return textMessage(id, 'user', text, { kind: 'user' })
}

export function user(text: string) {
  return userMessage({ message: said(text) })
}

export function systemText(text: string): Message {
  return textMessage(`s-${text}`, 'system', text, { kind: 'plugin', row: 'r', form: 'system' })
}

export function assistant(
  text: string,
  calls: readonly string[] = [],
  more: { replay?: unknown } = {},
) {
  const parts = calls.map((id): ContentPart => ({
    type: 'tool-call',
    id,
    name: 'do',
    arguments: '{}',
  }))
  const content: ContentPart[] = text === '' ? parts : [{ type: 'text', text }, ...parts]
  const source = { kind: 'model', provider: 'p', model: 'm' } as const
  const message: Message = { id: `a-${text}`, role: 'assistant', content, source }
  return assistantMessage({ ...at, attempt: 1, message, finish: 'stop', ...more })
}

export function result(callId: string, text = `r-${callId}`) {
  const content = [{ type: 'text' as const, text }]
  const part = { type: 'tool-result' as const, callId, name: 'do', content, isError: false }
  return toolResult({ ...at, callId, name: 'do', messageId: `m-${text}`, part })
}

/** One word for each entry: its text, and for a result what it says. */
export function pictureOf(surface: readonly SurfaceEntry[]): string[] {
  return surface.map(({ message }) => {
    const texts = message.content.flatMap((part) => {
      if (part.type === 'tool-result') return part.content
      return part.type === 'text' ? [part] : []
    })
    return texts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  })
}
