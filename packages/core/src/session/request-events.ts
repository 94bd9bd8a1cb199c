import { z } from 'zod'
import { defineEvent } from './event.ts'

const toolSpec = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
})

/** A tool as a model is told of it; `parameters` is a JSON schema. */
export type ToolSpec = z.infer<typeof toolSpec>

const params = z.object({
  effort: z.string().optional(),
  temperature: z.number().optional(),
  maxTokens: z.number().int().optional(),
})
export type RequestParams = z.infer<typeof params>

const header = z.object({
  provider: z.string(),
  model: z.string(),
  params,
  tools: z.array(toolSpec),
  reason: z.enum(['initial', 'change']),
  /** Which row contributed what and its estimated tokens: for people, never sent. */
  origin: z.array(z.object({ part: z.string(), row: z.string(), tokens: z.number() })),
  /** What was chosen, `<provider>/<model id>`, whose place this has taken for the rest of a turn. */
  insteadOf: z.object({ model: z.string(), params }).optional(),
})
export type RequestHeader = z.infer<typeof header>

/** Everything of a request that is not a message. Logged when it differs from the last one. */
export const requestHeader = defineEvent({
  type: 'request/header',
  schema: header,
  initial: undefined as RequestHeader | undefined,
  reduce: (_, { data }): RequestHeader => data,
})

const context = z.object({
  provider: z.string(),
  model: z.string(),
  contextWindow: z.number().int(),
  maxTokens: z.number().int(),
})

/** What the chosen route declares of itself. Logged with each header. */
export const requestContext = defineEvent({
  type: 'request/context',
  schema: context,
  initial: undefined as RequestContext | undefined,
  reduce: (_, { data }): RequestContext => data,
})
export type RequestContext = z.infer<typeof context>

/** The request of an attempt was not the one that the log alone gives: an error in the harness. */
export const requestMismatch = defineEvent({
  type: 'request/mismatch',
  schema: z.object({
    turn: z.number().int(),
    step: z.number().int(),
    attempt: z.number().int(),
    reason: z.string(),
  }),
  visible: true,
})

/**
 * A server refused what this model reasoned before: from here on it is not sent back. Nothing else
 * of its messages changes, and what it reasons later is.
 */
export const reasoningDropped = defineEvent({
  type: 'request/reasoning-dropped',
  schema: z.object({
    turn: z.number().int(),
    step: z.number().int(),
    attempt: z.number().int(),
    provider: z.string(),
    model: z.string(),
  }),
  visible: true,
})
