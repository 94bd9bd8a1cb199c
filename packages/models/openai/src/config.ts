import { routeFields, routeId } from '@cordage/core/model'
import { z } from 'zod'

/** What a server does otherwise than the protocol's inventor. */
const compat = z.strictObject({
  maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens'),
  /** `deepseek` sends `thinking: { type }` beside the effort, where a model declares efforts. */
  thinkingFormat: z.enum(['openai', 'deepseek']).default('openai'),
  /** The system prompt goes out with the role `developer`. */
  developerRole: z.boolean().default(false),
  /** Which messages of its own a server gets back with their `reasoning_content`. */
  reasoningContent: z.enum(['none', 'tool-turns', 'all']).default('none'),
  /** Asks for the usage at the end of a stream; a few servers refuse the field. */
  usageInStream: z.boolean().default(true),
  /** Asks Responses for readable summaries of the reasoning. */
  reasoningSummary: z.enum(['none', 'auto']).default('none'),
})

const api = z.enum(['openai-completions', 'openai-responses'])

const route = z.strictObject({
  ...routeFields,
  api,
  /** Spoken instead of `api` while `baseURLEnv` is set: few compatible servers know Responses. */
  redirectedApi: api.optional(),
  compat: compat.prefault({}),
})

export const config = z.strictObject({ providers: z.record(routeId, route) })

export type Route = z.output<typeof route>
export type Compat = z.output<typeof compat>
