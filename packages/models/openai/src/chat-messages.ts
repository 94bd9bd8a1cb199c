import {
  type ContentPart,
  type ImagePart,
  type Message,
  textOf,
  toolCallsOf,
  type ToolResultPart,
} from '@cordage/core/message'
import {
  mapWireIds,
  type ModelInfo,
  type ModelRequest,
  WireCache,
  wireName,
} from '@cordage/core/model'
import type OpenAI from 'openai'
import type { Compat } from './config.ts'
import { describeImage, toDataURL } from './image.ts'

type ChatMessage = OpenAI.ChatCompletionMessageParam
type ChatPart = OpenAI.ChatCompletionContentPart

const ids = { maxLength: 40, allowed: /^\S+$/ }
const mark = { cache_control: { type: 'ephemeral' } }

interface Setting {
  readonly request: ModelRequest
  readonly info: ModelInfo
  readonly wireId: (id: string) => string
}

/** The history as one route gets it; what was made of a message once is made once. */
export class ChatMessages {
  readonly #compat: Compat
  readonly #made = new WireCache<ChatMessage[]>()
  readonly #images = new WireCache<ChatMessage[]>()

  constructor(compat: Compat) {
    this.#compat = compat
  }

  async of(request: ModelRequest, info: ModelInfo): Promise<ChatMessage[]> {
    const setting = { request, info, wireId: mapWireIds(request.messages, request.provider, ids) }
    const messages: ChatMessage[] = []
    let batch: Message[] = []
    for (const { message } of request.messages) {
      if (message.role !== 'tool' && batch.length > 0) {
        messages.push(...(await this.#imagesOf(batch, setting)))
        batch = []
      }
      if (message.role === 'tool') batch.push(message)
      const key = keyOf(message, setting)
      messages.push(
        ...(this.#made.find(message, key) ??
          this.#made.keep(message, key, await this.#make(message, setting))),
      )
    }
    if (batch.length > 0) messages.push(...(await this.#imagesOf(batch, setting)))
    return this.#compat.cacheMarkers ? marked(messages) : messages
  }

  /** A tool message holds only text: images follow the whole batch. */
  #imagesOf(batch: readonly Message[], setting: Setting): Promise<ChatMessage[]> {
    const last = batch.at(-1) as Message
    const key = batch.map((message) => keyOf(message, setting)).join()
    return this.#images.get(last, key, async () => {
      const results = batch.flatMap(({ content }) => content)
      const inner = results.flatMap((part) => (part.type === 'tool-result' ? part.content : []))
      const images = inner.filter((part) => part.type === 'image')
      const content = await Promise.all(images.map((image) => toImage(image, setting)))
      return content.length > 0 ? [{ role: 'user', content }] : []
    })
  }

  async #make(message: Message, setting: Setting): Promise<ChatMessage[]> {
    switch (message.role) {
      case 'system': {
        const role = this.#compat.developerRole ? 'developer' : 'system'
        return [{ role, content: textOf(message) }]
      }
      case 'assistant':
        return toAssistant(message, setting, this.#compat.reasoningContent)
      case 'tool': {
        const results = message.content.filter((part) => part.type === 'tool-result')
        return results.map((part) => toToolMessage(part, setting))
      }
      case 'user':
        return [{ role: 'user', content: await this.#toUserContent(message, setting) }]
    }
  }

  /** In parts where it may get a mark: one that goes on to a later message changes nothing else. */
  async #toUserContent(message: Message, setting: Setting): Promise<string | ChatPart[]> {
    const isText = message.content.every((part) => part.type === 'text')
    if (isText && !this.#compat.cacheMarkers) return textOf(message)
    const parts = await Promise.all(message.content.map((part) => toPart(part, setting)))
    return parts.filter((part) => part !== undefined)
  }
}

/** All that the form of a message depends on besides itself. */
function keyOf(message: Message, { request, info, wireId }: Setting): string {
  const { role } = message
  if (role === 'assistant') {
    const calls = toolCallsOf(message).map(({ id }) => wireId(id))
    return `${request.provider} ${calls.join(' ')}`
  }
  if (role !== 'tool') return info.input.join()
  const results = message.content.map((part) => {
    return part.type === 'tool-result' ? wireId(part.callId) : ''
  })
  return `${info.input.join()} ${results.join(' ')}`
}

async function toPart(part: ContentPart, setting: Setting): Promise<ChatPart | undefined> {
  if (part.type === 'text') return { type: 'text', text: part.text }
  return part.type === 'image' ? toImage(part, setting) : undefined
}

async function toImage(part: ImagePart, { request, info }: Setting): Promise<ChatPart> {
  const url = await toDataURL(part, request, info)
  return url === undefined
    ? { type: 'text', text: describeImage(part) }
    : { type: 'image_url', image_url: { url } }
}

/** `content` is never null: some servers refuse it beside calls. An empty message is left out. */
function toAssistant(
  message: Message,
  { request, wireId }: Setting,
  mode: Compat['reasoningContent'],
): ChatMessage[] {
  const calls = toolCallsOf(message).map(({ id, name, arguments: text }) => ({
    id: wireId(id),
    type: 'function' as const,
    function: { name: wireName(name), arguments: text },
  }))
  const content = textOf(message)
  if (content === '' && calls.length === 0) return []
  const wanted = mode === 'tool-turns' && calls.length === 0 ? 'none' : mode
  const reasoning = reasoningFields(message, request.provider, wanted)
  const asked = calls.length === 0 ? {} : { tool_calls: calls }
  return [{ role: 'assistant', content, ...reasoning, ...asked }]
}

/**
 * Servers that want the reasoning of their calls back refuse a call without the field, whoever made
 * it; what another route thought is not for them.
 */
function reasoningFields(
  { source, content }: Message,
  provider: string,
  mode: Compat['reasoningContent'],
) {
  if (mode === 'none') return {}
  const own = source.kind === 'model' && source.provider === provider
  const text = content.map((part) => (own && part.type === 'reasoning' ? part.text : '')).join('')
  const calls = content.some((part) => part.type === 'tool-call')
  return text === '' && !calls ? {} : { reasoning_content: text }
}

function toToolMessage(part: ToolResultPart, { wireId }: Setting): ChatMessage {
  const images = part.content.filter((inner) => inner.type === 'image').length
  const text = textOf(part) || (images > 0 ? '(images follow)' : '(no output)')
  return { role: 'tool', tool_call_id: wireId(part.callId), content: text }
}

/** With cache markers at the system prompt and at the last text of a person. */
function marked(messages: readonly ChatMessage[]): ChatMessage[] {
  const places = [
    messages.findIndex(({ role }) => role === 'system' || role === 'developer'),
    messages.findLastIndex(({ role, content }) => role === 'user' && isMarkable(content)),
  ]
  return messages.map((message, at) => {
    const { content } = message
    if (!places.includes(at)) return message
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
    const last = parts.at(-1)
    return { ...message, content: [...parts.slice(0, -1), { ...last, ...mark }] } as ChatMessage
  })
}

function isMarkable(content: ChatMessage['content']): boolean {
  return Array.isArray(content) && content.at(-1)?.type === 'text'
}
