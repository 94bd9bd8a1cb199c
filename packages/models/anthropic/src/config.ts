import { routeFields, routeId, wrongInBaseURL } from '@cordage/core/model'
import { z } from 'zod'

/** What a server does otherwise than the protocol's inventor. */
const compat = z.strictObject({
  thinkingFormat: z
    .enum(['adaptive', 'budget'])
    .default('adaptive')
    .describe(
      'How an effort goes out: `adaptive` as `output_config.effort`, `budget` as the number of ' +
        'thinking tokens (then the values of `efforts` are numbers).',
    ),
  strictTools: z
    .boolean()
    .default(false)
    .describe('Asks for exact arguments of tools, where their schema is one that can be.'),
  cacheControl: z
    .enum(['automatic', 'markers', 'off'])
    .default('automatic')
    .describe(
      '`automatic` marks system and tools and lets the server mark the end of the history, so ' +
        'that no byte of an earlier message changes; `markers` marks the last message too.',
    ),
})

const { baseURL } = routeFields

const route = z.strictObject({
  ...routeFields,
  baseURL: baseURL
    .refine((url) => wrongInBaseURL(url, 'anthropic-messages') === undefined, {
      error: ({ input }) => `the base URL ${wrongInBaseURL(String(input), 'anthropic-messages')}`,
    })
    .describe('Without /v1, which is added.'),
  api: z.literal('anthropic-messages').default('anthropic-messages').describe('The protocol.'),
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
