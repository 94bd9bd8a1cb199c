import { type ContentPart, type Message, textOf, type ToolResultPart } from '@cordage/core/message'
import { mapWireIds, type ModelInfo, type ModelRequest, resolveEffort } from '@cordage/core/model'
import type OpenAI from 'openai'
import type { Compat } from './config.ts'
import { describeImage, toDataURL } from './image.ts'
import { readReplay } from './reasoning-replay.ts'

type InputItem = OpenAI.Responses.ResponseInputItem
type InputContent = OpenAI.Responses.ResponseInputText | OpenAI.Responses.ResponseInputImage

export type ResponsesBody = OpenAI.Responses.ResponseCreateParamsStreaming

interface Setting {
  readonly request: ModelRequest
  readonly info: ModelInfo
  readonly compat: Compat
  readonly wireId: (id: string) => string
}

/** Nothing is stored by the server: reasoning travels encrypted in the replay state. */
export async function buildResponsesBody(
  request: ModelRequest,
  info: ModelInfo,
  compat: Compat,
): Promise<ResponsesBody> {
  const { temperature, maxTokens } = request.params
  const setting = { request, info, compat, wireId: mapWireIds(request.messages, request.provider) }
  const items = await Promise.all(request.messages.map(({ message }) => toItems(message, setting)))
  return {
    model: request.model,
    stream: true,
    store: false,
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...reasoningFields(request, info, compat),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toTool) }),
    input: items.flat(),
  }
}

// Models that take no effort do not reason, and refuse to be asked for reasoning items.
function reasoningFields(request: ModelRequest, info: ModelInfo, compat: Compat) {
  const effort = resolveEffort(request, info)
  if (!info.efforts) return {}
  const reasoning = {
    ...(effort === undefined || effort === null
      ? {}
      : { effort: effort as OpenAI.ReasoningEffort }),
    ...(compat.reasoningSummary === 'none' ? {} : { summary: compat.reasoningSummary }),
  }
  return {
    include: ['reasoning.encrypted_content' as const],
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
  }
}

function toTool({ name, description, parameters }: ModelRequest['tools'][number]) {
  return { type: 'function', name, description, parameters, strict: false } as const
}

async function toItems(message: Message, setting: Setting): Promise<InputItem[]> {
  switch (message.role) {
    case 'system': {
      const role = setting.compat.developerRole ? 'developer' : 'system'
      return [{ type: 'message', role, content: textOf(message) }]
    }
    case 'user': {
      const content = await toContent(message.content, setting)
      return [{ type: 'message', role: 'user', content }]
    }
    case 'assistant':
      return message.content.flatMap((part) => toOutputItem(part, message, setting))
    case 'tool': {
      const results = message.content.filter((part) => part.type === 'tool-result')
      return Promise.all(results.map((part) => toResult(part, setting)))
    }
  }
}

function toOutputItem(part: ContentPart, message: Message, setting: Setting): InputItem[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'message', role: 'assistant', content: part.text }]
    case 'reasoning': {
      const item = readReplay(part.replay, message, setting.request)
      return item ? [item] : []
    }
    case 'tool-call': {
      const call_id = setting.wireId(part.id)
      return [{ type: 'function_call', call_id, name: part.name, arguments: part.arguments }]
    }
    default:
      return []
  }
}

async function toResult(part: ToolResultPart, setting: Setting): Promise<InputItem> {
  const call_id = setting.wireId(part.callId)
  const plain = part.content.every((inner) => inner.type === 'text')
  const output = plain ? textOf(part) || '(no output)' : await toContent(part.content, setting)
  return { type: 'function_call_output', call_id, output }
}

async function toContent(parts: readonly ContentPart[], setting: Setting): Promise<InputContent[]> {
  const content: InputContent[] = []
  for (const part of parts) {
    if (part.type === 'text') content.push({ type: 'input_text', text: part.text })
    if (part.type !== 'image') continue
    const url = await toDataURL(part, setting.request, setting.info)
    content.push(
      url === undefined
        ? { type: 'input_text', text: describeImage(part) }
        : { type: 'input_image', detail: 'auto', image_url: url },
    )
  }
  return content
}
