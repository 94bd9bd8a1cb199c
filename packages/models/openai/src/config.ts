import { routeFields, routeId } from '@cordage/core/model'
import { z } from 'zod'

/** What a server does otherwise than the protocol's inventor. */
const compat = z.strictObject({
  maxTokensField: z
    .enum(['max_tokens', 'max_completion_tokens'])
    .default('max_tokens')
    .describe('How the server calls the limit of an answer.'),
  thinkingFormat: z
    .enum(['openai', 'deepseek'])
    .default('openai')
    .describe(
      '`deepseek` sends `thinking: { type }` beside the effort, where a model declares efforts.',
    ),
  developerRole: z
    .boolean()
    .default(false)
    .describe('The system prompt goes out with the role `developer`.'),
  reasoningContent: z
    .enum(['none', 'tool-turns', 'all'])
    .default('none')
    .describe('Which messages of its own a server gets back with their `reasoning_content`.'),
  strictTools: z
    .boolean()
    .default(false)
    .describe('Asks for exact arguments of tools, where their schema is one that can be.'),
  maxTools: z
    .number()
    .int()
    .positive()
    .default(128)
    .describe('So many tools the server takes; a request with more is not sent.'),
  cacheMarkers: z
    .boolean()
    .default(false)
    .describe(
      'Marks what a cache is to keep as Messages does; gateways before such models want it in Chat ' +
        'Completions.',
    ),
  usageInStream: z
    .boolean()
    .default(true)
    .describe('Asks for the usage at the end of a stream; a few servers refuse the field.'),
  reasoningSummary: z
    .enum(['none', 'auto'])
    .default('none')
    .describe('`auto` asks Responses for readable summaries of the reasoning.'),
})

const api = z.enum(['openai-completions', 'openai-responses'])

const route = z.strictObject({
  ...routeFields,
  api: api.describe('The protocol.'),
  redirectedApi: api
    .optional()
    .describe(
      'Spoken instead of `api` while `baseURLEnv` is set: few compatible servers know Responses.',
    ),
  compat: compat
    .prefault({})
    .describe('What the server does otherwise than the inventor of the protocol.'),
})

export const config = z.strictObject({
  providers: z
    .record(routeId, route)
    .describe('Routes by the part of a model’s name before the slash.'),
})

export type Route = z.output<typeof route>
export type Compat = z.output<typeof compat>
