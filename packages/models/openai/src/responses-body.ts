import { type ContentPart, type Message, textOf, type ToolResultPart } from '@cordage/core/message'
import {
  checkToolCount,
  isStrictSchema,
  mapWireIds,
  type ModelInfo,
  type ModelRequest,
  resolveEffort,
  WireCache,
  wireName,
} from '@cordage/core/model'
import type OpenAI from 'openai'
import type { Compat } from './config.ts'
import { describeImage, toDataURL } from './image.ts'
import { readReplay } from './reasoning-replay.ts'
import { ToolForms } from './tool-forms.ts'

type InputItem = OpenAI.Responses.ResponseInputItem
type InputContent = OpenAI.Responses.ResponseInputText | OpenAI.Responses.ResponseInputImage

export type ResponsesBody = OpenAI.Responses.ResponseCreateParamsStreaming

interface Setting {
  readonly request: ModelRequest
  readonly info: ModelInfo
  readonly compat: Compat
  readonly wireId: (id: string) => string
}

/** Makes the bodies of one route. Nothing is stored by the server: reasoning travels encrypted. */
export class ResponsesBodies {
  readonly #compat: Compat
  readonly #items = new WireCache<InputItem[]>()
  readonly #tools: ToolForms<OpenAI.Responses.FunctionTool>

  constructor(compat: Compat) {
    this.#compat = compat
    this.#tools = new ToolForms(false, ({ name, description, parameters }) => {
      const strict = compat.strictTools && isStrictSchema(parameters)
      return { type: 'function', name, description, parameters, strict }
    })
  }

  async build(request: ModelRequest, info: ModelInfo): Promise<ResponsesBody> {
    const compat = this.#compat
    const { temperature, maxTokens } = request.params
    checkToolCount(request, compat.maxTools)
    return {
      model: request.model,
      stream: true,
      store: false,
      ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...reasoningFields(request, info, compat),
      ...(request.tools.length === 0 ? {} : { tools: this.#tools.of(request.tools) }),
      input: await this.#itemsOf(request, info),
    }
  }

  async #itemsOf(request: ModelRequest, info: ModelInfo): Promise<InputItem[]> {
    const wireId = mapWireIds(request.messages, request.provider)
    const setting = { request, info, compat: this.#compat, wireId }
    const input: InputItem[] = []
    for (const { message } of request.messages) {
      const key = keyOf(message, setting)
      input.push(
        ...(this.#items.find(message, key) ??
          this.#items.keep(message, key, await toItems(message, setting))),
      )
    }
    return input
  }
}

/** All that the form of a message depends on besides itself. */
function keyOf({ role, content }: Message, { request, info, wireId }: Setting): string {
  if (role === 'system') return ''
  if (role === 'user') return info.input.join()
  const ids = content.map((part) => {
    if (part.type === 'tool-call') return wireId(part.id)
    return part.type === 'tool-result' ? wireId(part.callId) : ''
  })
  return `${request.provider}/${request.model} ${info.input.join()} ${ids.join(' ')}`
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
      return [
        { type: 'function_call', call_id, name: wireName(part.name), arguments: part.arguments },
      ]
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
