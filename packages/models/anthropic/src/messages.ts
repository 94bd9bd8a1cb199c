import type Anthropic from '@anthropic-ai/sdk'
import {
  type ContentPart,
  type ImagePart,
  type Message,
  type TextPart,
  type ToolResultPart,
} from '@cordage/core/message'
import {
  mapWireIds,
  type ModelInfo,
  type ModelRequest,
  WireCache,
  wireName,
} from '@cordage/core/model'
import { readReplay } from './thinking-replay.ts'

type MessageParam = Anthropic.MessageParam
type BlockParam = Anthropic.ContentBlockParam
type Blocks = BlockParam[]
type InnerParam = Anthropic.TextBlockParam | Anthropic.ImageBlockParam

interface Setting {
  readonly request: ModelRequest
  readonly info: ModelInfo
  readonly wireId: (id: string) => string
}

/** The history of one route; what was made of a message once is made once. */
export class History {
  readonly #marked: boolean
  readonly #made = new WireCache<MessageParam>()

  /** `marked` puts a cache marker at its end. */
  constructor(marked: boolean) {
    this.#marked = marked
  }

  async of(request: ModelRequest, info: ModelInfo): Promise<MessageParam[]> {
    const setting = { request, info, wireId: mapWireIds(request.messages, request.provider) }
    const messages: MessageParam[] = []
    for (const group of groupsOf(request, info)) {
      const last = group.at(-1) as Message
      const key = group.map((message) => keyOf(message, setting)).join()
      const known = this.#made.find(last, key)
      const message = known ?? this.#made.keep(last, key, await toMessage(group, setting))
      if (message.content.length > 0) messages.push(message)
    }
    return this.#marked ? markEnd(messages) : messages
  }
}

/** Whether a system message stands inside the history, on a model that takes it there. */
export function isLater(messages: ModelRequest['messages'], at: number, info: ModelInfo): boolean {
  if (info.systemPromptUpdate !== 'in-history') return false
  return messages.slice(0, at).some(({ message }) => message.role !== 'system')
}

/** The messages that go out, with the results of one batch together: they answer in one message. */
function groupsOf({ messages }: ModelRequest, info: ModelInfo): Message[][] {
  const groups: Message[][] = []
  let begun = false
  for (const { message } of messages) {
    const { role } = message
    if (role === 'system' && !(begun && info.systemPromptUpdate === 'in-history')) continue
    begun = true
    const group = groups.at(-1)
    if (role === 'tool' && group?.[0]?.role === 'tool') group.push(message)
    else groups.push([message])
  }
  return groups
}

/** All that the form of a message depends on besides itself. */
function keyOf({ content }: Message, { request, info, wireId }: Setting): string {
  const ids = content.map((part) => {
    if (part.type === 'tool-call') return wireId(part.id)
    return part.type === 'tool-result' ? wireId(part.callId) : ''
  })
  return `${request.provider}/${request.model} ${info.input.join()} ${ids.join(' ')}`
}

async function toMessage(group: readonly Message[], setting: Setting): Promise<MessageParam> {
  const [{ role } = { role: 'user' }] = group
  const parts = group.flatMap((message) => {
    return message.content.map((part) => toBlock(part, message, setting))
  })
  const content = (await Promise.all(parts)).filter((block) => block !== undefined)
  return { role: role === 'tool' ? 'user' : role, content } as MessageParam
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
      return {
        type: 'tool_use',
        id,
        name: wireName(part.name),
        input: readArguments(part.arguments),
      }
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

function markEnd(messages: readonly MessageParam[]): MessageParam[] {
  const last = messages.at(-1)
  const blocks = last?.content as Blocks | undefined
  const block = blocks?.at(-1)
  if (!last || !block || block.type === 'thinking' || block.type === 'redacted_thinking') {
    return [...messages]
  }
  const marked = { ...block, cache_control: { type: 'ephemeral' as const } } as BlockParam
  const content = [...(blocks ?? []).slice(0, -1), marked]
  return [...messages.slice(0, -1), { ...last, content } as MessageParam]
}
