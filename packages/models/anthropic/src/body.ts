import type Anthropic from '@anthropic-ai/sdk'
import { textOf } from '@cordage/core/message'
import { type ModelInfo, type ModelRequest, resolveEffort } from '@cordage/core/model'
import type { Compat } from './config.ts'
import { toMessages } from './messages.ts'

export type MessagesBody = Anthropic.MessageCreateParamsStreaming

const MIN_BUDGET = 1_024
const mark = { type: 'ephemeral' } as const

/** The fields that do not change come first and the messages last, for a stable prefix. */
export async function buildBody(
  request: ModelRequest,
  info: ModelInfo,
  compat: Compat,
): Promise<MessagesBody> {
  const { temperature, maxTokens = info.maxTokens } = request.params
  const thinking = thinkingFields(request, info, compat, maxTokens)
  const marked = compat.cacheControl !== 'off'
  return {
    model: request.model,
    stream: true,
    max_tokens: maxTokens,
    // Thinking models take no other temperature than their own.
    ...(temperature === undefined || thinking.thinking ? {} : { temperature }),
    ...thinking,
    ...(compat.cacheControl === 'automatic' ? { cache_control: mark } : {}),
    ...toolFields(request, marked),
    ...systemFields(request, marked),
    messages: await toMessages(request, info, compat.cacheControl === 'markers'),
  }
}

type ThinkingFields = Pick<MessagesBody, 'thinking' | 'output_config'>

function thinkingFields(
  request: ModelRequest,
  info: ModelInfo,
  { thinkingFormat }: Compat,
  maxTokens: number,
): ThinkingFields {
  const effort = resolveEffort(request, info)
  if (effort === undefined) return {}
  if (effort === null) return request.params.effort === 'off' ? {} : { thinking: adaptive }
  if (thinkingFormat === 'adaptive') {
    const level = effort as NonNullable<NonNullable<MessagesBody['output_config']>['effort']>
    return { thinking: adaptive, output_config: { effort: level } }
  }
  // The budget counts towards the answer, which needs room of its own.
  const budget = Math.max(MIN_BUDGET, Math.min(Number(effort), maxTokens - MIN_BUDGET))
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

const adaptive = { type: 'adaptive', display: 'summarized' } as const

function toolFields({ tools }: ModelRequest, marked: boolean): Pick<MessagesBody, 'tools'> {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(({ name, description, parameters }, at) => ({
      name,
      description,
      input_schema: { type: 'object' as const, ...parameters },
      ...(marked && at === tools.length - 1 ? { cache_control: mark } : {}),
    })),
  }
}

/** All system messages in order: the protocol has no place for one inside the history. */
function systemFields({ messages }: ModelRequest, marked: boolean): Pick<MessagesBody, 'system'> {
  const texts = messages
    .filter(({ message }) => message.role === 'system')
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
