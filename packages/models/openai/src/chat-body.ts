import {
  checkToolCount,
  isStrictSchema,
  type ModelInfo,
  type ModelRequest,
  resolveEffort,
} from '@cordage/core/model'
import type OpenAI from 'openai'
import { ChatMessages } from './chat-messages.ts'
import type { Compat } from './config.ts'
import { ToolForms } from './tool-forms.ts'

/** Chat Completions, with the fields that compatible servers add. */
export type ChatBody = Omit<OpenAI.ChatCompletionCreateParamsStreaming, 'reasoning_effort'> & {
  reasoning_effort?: OpenAI.ReasoningEffort
  thinking?: { type: 'enabled' | 'disabled' }
}

/** Makes the bodies of one route. */
export class ChatBodies {
  readonly #compat: Compat
  readonly #messages: ChatMessages
  readonly #tools: ToolForms<OpenAI.ChatCompletionFunctionTool>

  constructor(compat: Compat) {
    this.#compat = compat
    this.#messages = new ChatMessages(compat)
    this.#tools = new ToolForms(compat.cacheMarkers, ({ name, description, parameters }) => {
      const strict = compat.strictTools && isStrictSchema(parameters) ? { strict: true } : {}
      return { type: 'function', function: { name, description, parameters, ...strict } }
    })
  }

  /** The fields that do not change come first and the messages last, for a stable prefix. */
  async build(request: ModelRequest, info: ModelInfo): Promise<ChatBody> {
    const compat = this.#compat
    const { temperature, maxTokens } = request.params
    checkToolCount(request, compat.maxTools)
    return {
      model: request.model,
      stream: true,
      ...(compat.usageInStream ? { stream_options: { include_usage: true } } : {}),
      ...(maxTokens === undefined ? {} : { [compat.maxTokensField]: maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...effortFields(request, info, compat),
      ...(request.tools.length === 0 ? {} : { tools: this.#tools.of(request.tools) }),
      messages: await this.#messages.of(request, info),
    }
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
