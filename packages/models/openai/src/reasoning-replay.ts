import type { Message } from '@cordage/core/message'
import type { ModelRequest } from '@cordage/core/model'
import type OpenAI from 'openai'

type ReasoningItem = OpenAI.Responses.ResponseReasoningItem

/** What is kept of a reasoning item so that the next request can give it back. */
export function makeReplay({ id, summary, encrypted_content }: ReasoningItem): unknown {
  return encrypted_content ? { id, summary, encrypted_content } : undefined
}

/** The item for the model that made it; state of another route or model is left out. */
export function readReplay(
  replay: unknown,
  { source }: Message,
  request: ModelRequest,
): ReasoningItem | undefined {
  const own =
    source.kind === 'model' &&
    source.provider === request.provider &&
    source.model === request.model
  if (!own || typeof replay !== 'object' || replay === null) return undefined
  const { id, summary, encrypted_content } = replay as Partial<ReasoningItem>
  if (typeof id !== 'string' || typeof encrypted_content !== 'string') return undefined
  return { type: 'reasoning', id, summary: summary ?? [], encrypted_content }
}
