import type Anthropic from '@anthropic-ai/sdk'
import {
  type ContentPart,
  type ImagePart,
  type Message,
  type TextPart,
  type ToolResultPart,
} from '@cordage/core/message'
import { mapWireIds, type ModelInfo, type ModelRequest } from '@cordage/core/model'
import { readReplay } from './thinking-replay.ts'

type MessageParam = Anthropic.MessageParam
type BlockParam = Anthropic.ContentBlockParam
type InnerParam = Anthropic.TextBlockParam | Anthropic.ImageBlockParam

interface Setting {
  readonly request: ModelRequest
  readonly info: ModelInfo
  readonly wireId: (id: string) => string
}

/** The history without system messages; `marked` puts a cache marker at its end. */
export async function toMessages(
  request: ModelRequest,
  info: ModelInfo,
  marked: boolean,
): Promise<MessageParam[]> {
  const setting = { request, info, wireId: mapWireIds(request.messages, request.provider) }
  const messages: { role: 'user' | 'assistant'; content: BlockParam[] }[] = []
  let batch: BlockParam[] | undefined
  for (const { message } of request.messages) {
    if (message.role === 'system') continue
    const content = (
      await Promise.all(message.content.map((part) => toBlock(part, message, setting)))
    ).filter((block) => block !== undefined)
    // The results of one batch answer its calls in one message.
    if (message.role === 'tool' && batch) {
      batch.push(...content)
      continue
    }
    batch = message.role === 'tool' ? content : undefined
    if (content.length === 0) continue
    messages.push({ role: message.role === 'assistant' ? 'assistant' : 'user', content })
  }
  return marked ? markEnd(messages) : messages
}

async function toBlock(
  part: ContentPart,
  message: Message,
  setting: Setting,
): Promise<BlockParam | undefined> {
  switch (part.type) {
    case 'text':
    case 'image':
      return toInner(part, setting)
    case 'reasoning':
      return readReplay(part, message, setting.request)
    case 'tool-call': {
      const id = setting.wireId(part.id)
      return { type: 'tool_use', id, name: part.name, input: readArguments(part.arguments) }
    }
    case 'tool-result':
      return toResult(part, setting)
  }
}

// Text blocks must not be blank.
async function toInner(
  part: TextPart | ImagePart,
  { request, info }: Setting,
): Promise<InnerParam | undefined> {
  if (part.type === 'text') {
    return part.text.trim() === '' ? undefined : { type: 'text', text: part.text }
  }
  const { mediaType, bytes, hash } = part.blob
  if (!info.input.includes('image')) {
    const text = `[image not shown: this model reads no images (${mediaType}, ${bytes} bytes)]`
    return { type: 'text', text }
  }
  const data = Buffer.from(await request.getBlob(hash)).toString('base64')
  const media_type = mediaType as Anthropic.Base64ImageSource['media_type']
  return { type: 'image', source: { type: 'base64', media_type, data } }
}

async function toResult(part: ToolResultPart, setting: Setting): Promise<BlockParam> {
  const blocks = await Promise.all(part.content.map((inner) => toInner(inner, setting)))
  const content = blocks.filter((block) => block !== undefined)
  return {
    type: 'tool_result',
    tool_use_id: setting.wireId(part.callId),
    content: content.length > 0 ? content : '(no output)',
    ...(part.isError ? { is_error: true } : {}),
  }
}

// The protocol wants an object; what a model wrote instead is shown to it as it was.
function readArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text || '{}')
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
  } catch {
    // Not JSON: handled as every other text that is no object.
  }
  return { invalid_arguments: text }
}

function markEnd(messages: { role: 'user' | 'assistant'; content: BlockParam[] }[]) {
  const last = messages.at(-1)
  const block = last?.content.at(-1)
  if (!last || !block || block.type === 'thinking' || block.type === 'redacted_thinking') {
    return messages
  }
  const marked = { ...block, cache_control: { type: 'ephemeral' as const } }
  const content = [...last.content.slice(0, -1), marked as BlockParam]
  return [...messages.slice(0, -1), { ...last, content }]
}
