import type Anthropic from '@anthropic-ai/sdk'
import { textOf } from '@cordage/core/message'
import {
  isStrictSchema,
  type ModelInfo,
  type ModelRequest,
  resolveEffort,
  WireCache,
  wireName,
} from '@cordage/core/model'
import type { Compat } from './config.ts'
import { History, isLater } from './messages.ts'

export type MessagesBody = Anthropic.MessageCreateParamsStreaming

const MIN_BUDGET = 1_024
const mark = { type: 'ephemeral' } as const

/** Makes the bodies of one route. */
export class MessagesBodies {
  readonly #compat: Compat
  readonly #history: History
  readonly #tools = new WireCache<Anthropic.Tool>()

  constructor(compat: Compat) {
    this.#compat = compat
    this.#history = new History(compat.cacheControl === 'markers')
  }

  /** The fields that do not change come first and the messages last, for a stable prefix. */
  async build(request: ModelRequest, info: ModelInfo): Promise<MessagesBody> {
    const compat = this.#compat
    const { temperature, maxTokens = info.maxTokens } = request.params
    const messages = await this.#history.of(request, info)
    const thinking = thinkingFields({ request, info, compat, maxTokens, messages })
    const marked = compat.cacheControl !== 'off'
    return {
      model: request.model,
      stream: true,
      max_tokens: maxTokens,
      // Thinking models take no other temperature than their own.
      ...(temperature === undefined || thinking.thinking ? {} : { temperature }),
      ...thinking,
      ...(compat.cacheControl === 'automatic' ? { cache_control: mark } : {}),
      ...this.#toolFields(request, marked),
      ...systemFields(request, info, marked),
      messages,
    }
  }

  #toolFields({ tools }: ModelRequest, marked: boolean): Pick<MessagesBody, 'tools'> {
    if (tools.length === 0) return {}
    const forms = tools.map((tool, at) => {
      const last = marked && at === tools.length - 1
      const { strictTools } = this.#compat
      return (
        this.#tools.find(tool, String(last)) ??
        this.#tools.keep(tool, String(last), toTool(tool, strictTools, last))
      )
    })
    return { tools: forms }
  }
}

function toTool(
  { name, description, parameters }: ModelRequest['tools'][number],
  strictTools: boolean,
  marked: boolean,
): Anthropic.Tool {
  return {
    name: wireName(name),
    description,
    input_schema: { type: 'object' as const, ...parameters },
    ...(strictTools && isStrictSchema(parameters) ? { strict: true } : {}),
    ...(marked ? { cache_control: mark } : {}),
  }
}

type ThinkingFields = Pick<MessagesBody, 'thinking' | 'output_config'>

function thinkingFields(asked: {
  request: ModelRequest
  info: ModelInfo
  compat: Compat
  maxTokens: number
  messages: readonly Anthropic.MessageParam[]
}): ThinkingFields {
  const { request, info, maxTokens } = asked
  const effort = resolveEffort(request, info)
  if (effort === undefined) return {}
  if (effort === null) return request.params.effort === 'off' ? {} : { thinking: adaptive }
  if (asked.compat.thinkingFormat === 'adaptive') {
    const level = effort as NonNullable<NonNullable<MessagesBody['output_config']>['effort']>
    return { thinking: adaptive, output_config: { effort: level } }
  }
  if (hasThoughtlessCalls(asked.messages)) return {}
  // The budget counts towards the answer, which needs room of its own.
  const budget = Math.max(MIN_BUDGET, Math.min(Number(effort), maxTokens - MIN_BUDGET))
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

/**
 * Calls that wait to be answered and come without thinking, of another route or with a signature
 * that was refused: a server with a budget takes them only while it is not to think.
 */
function hasThoughtlessCalls(messages: readonly Anthropic.MessageParam[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant')
  const after = messages.at(-1)?.content
  const open = Array.isArray(after) && after.some(({ type }) => type === 'tool_result')
  const [first] = Array.isArray(last?.content) ? last.content : []
  return open && first?.type !== 'thinking' && first?.type !== 'redacted_thinking'
}

const adaptive = { type: 'adaptive', display: 'summarized' } as const

/** What stands before the history; what comes inside it goes to the messages. */
function systemFields(
  { messages }: ModelRequest,
  info: ModelInfo,
  marked: boolean,
): Pick<MessagesBody, 'system'> {
  const texts = messages
    .filter(({ message }, at) => message.role === 'system' && !isLater(messages, at, info))
    .map(({ message }) => textOf(message))
    .filter((text) => text.trim() !== '')
  if (texts.length === 0) return {}
  return {
    system: texts.map((text, at) => ({
      type: 'text' as const,
      text,
      ...(marked && at === texts.length - 1 ? { cache_control: mark } : {}),
    })),
  }
}
