import type Anthropic from '@anthropic-ai/sdk'
import type { Message, ReasoningPart } from '@cordage/core/message'
import type { ModelRequest } from '@cordage/core/model'

type ThinkingParam = Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam

/** What makes a block of thinking acceptable again: its signature, or the block that is hidden. */
export type ThinkingReplay = { readonly signature: string } | { readonly redacted: string }

/** The block for the model that thought it; state of another route or model is left out. */
export function readReplay(
  { text, replay }: ReasoningPart,
  { source }: Message,
  request: ModelRequest,
): ThinkingParam | undefined {
  const own =
    source.kind === 'model' &&
    source.provider === request.provider &&
    source.model === request.model
  if (!own || typeof replay !== 'object' || replay === null) return undefined
  if ('redacted' in replay && typeof replay.redacted === 'string') {
    return { type: 'redacted_thinking', data: replay.redacted }
  }
  if ('signature' in replay && typeof replay.signature === 'string') {
    return { type: 'thinking', thinking: text, signature: replay.signature }
  }
  return undefined
}
