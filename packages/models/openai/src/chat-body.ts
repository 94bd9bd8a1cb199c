import {
  type ContentPart,
  type ImagePart,
  type Message,
  textOf,
  type ToolResultPart,
} from '@cordage/core/message'
import { mapWireIds, type ModelInfo, type ModelRequest, resolveEffort } from '@cordage/core/model'
import type OpenAI from 'openai'
import type { Compat } from './config.ts'
import { describeImage, toDataURL } from './image.ts'

type ChatMessage = OpenAI.ChatCompletionMessageParam
type ChatPart = OpenAI.ChatCompletionContentPart

/** Chat Completions, with the fields that compatible servers add. */
export type ChatBody = Omit<OpenAI.ChatCompletionCreateParamsStreaming, 'reasoning_effort'> & {
  reasoning_effort?: OpenAI.ReasoningEffort
  thinking?: { type: 'enabled' | 'disabled' }
}

interface Setting {
  readonly request: ModelRequest
  readonly info: ModelInfo
  readonly compat: Compat
  readonly wireId: (id: string) => string
}

/** The fields that do not change come first and the messages last, for a stable prefix. */
export async function buildChatBody(
  request: ModelRequest,
  info: ModelInfo,
  compat: Compat,
): Promise<ChatBody> {
  const { temperature, maxTokens } = request.params
  const wireId = mapWireIds(request.messages, request.provider, { maxLength: 40, allowed: /^\S+$/ })
  return {
    model: request.model,
    stream: true,
    ...(compat.usageInStream ? { stream_options: { include_usage: true } } : {}),
    ...(maxTokens === undefined ? {} : { [compat.maxTokensField]: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...effortFields(request, info, compat),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toTool) }),
    messages: await toMessages({ request, info, compat, wireId }),
  }
}

function effortFields(request: ModelRequest, info: ModelInfo, compat: Compat) {
  const effort = resolveEffort(request, info)
  if (effort === undefined) return {}
  const value = effort === null ? {} : { reasoning_effort: effort as OpenAI.ReasoningEffort }
  if (compat.thinkingFormat !== 'deepseek') return value
  const type = request.params.effort === 'off' ? 'disabled' : 'enabled'
  return { thinking: { type } as const, ...value }
}

function toTool({ name, description, parameters }: ModelRequest['tools'][number]) {
  return { type: 'function', function: { name, description, parameters } } as const
}

async function toMessages(setting: Setting): Promise<ChatMessage[]> {
  const messages: ChatMessage[] = []
  let images: ChatPart[] = []
  const flushImages = () => {
    if (images.length > 0) messages.push({ role: 'user', content: images })
    images = []
  }
  for (const { message } of setting.request.messages) {
    if (message.role === 'tool') {
      for (const part of message.content) {
        if (part.type !== 'tool-result') continue
        messages.push(toToolMessage(part, setting))
        // A tool message holds only text: images follow the whole batch.
        images.push(...(await imagesOf(part, setting)))
      }
      continue
    }
    flushImages()
    messages.push(...(await toMessage(message, setting)))
  }
  flushImages()
  return messages
}

async function toMessage(message: Message, setting: Setting): Promise<ChatMessage[]> {
  switch (message.role) {
    case 'system': {
      const role = setting.compat.developerRole ? 'developer' : 'system'
      return [{ role, content: textOf(message) }]
    }
    case 'assistant':
      return toAssistant(message, setting)
    default:
      return [{ role: 'user', content: await toUserContent(message, setting) }]
  }
}

async function toUserContent(message: Message, setting: Setting): Promise<string | ChatPart[]> {
  if (message.content.every((part) => part.type === 'text')) return textOf(message)
  const parts = await Promise.all(message.content.map((part) => toPart(part, setting)))
  return parts.filter((part) => part !== undefined)
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
function toAssistant(message: Message, setting: Setting): ChatMessage[] {
  const calls = message.content
    .filter((part) => part.type === 'tool-call')
    .map((part) => ({
      id: setting.wireId(part.id),
      type: 'function' as const,
      function: { name: part.name, arguments: part.arguments },
    }))
  const content = textOf(message)
  if (content === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content,
      ...reasoningFields(message, calls.length > 0, setting),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ]
}

function reasoningFields(message: Message, calls: boolean, { request, compat }: Setting) {
  const { source } = message
  const own = source.kind === 'model' && source.provider === request.provider
  const mode = compat.reasoningContent
  if (!own || mode === 'none' || (mode === 'tool-turns' && !calls)) return {}
  const text = message.content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
  return text === '' ? {} : { reasoning_content: text }
}

function toToolMessage(part: ToolResultPart, { wireId }: Setting): ChatMessage {
  const images = part.content.filter((inner) => inner.type === 'image').length
  const text = textOf(part) || (images > 0 ? '(images follow)' : '(no output)')
  return { role: 'tool', tool_call_id: wireId(part.callId), content: text }
}

function imagesOf(part: ToolResultPart, setting: Setting): Promise<ChatPart[]> {
  const images = part.content.filter((inner) => inner.type === 'image')
  return Promise.all(images.map((image) => toImage(image, setting)))
}
