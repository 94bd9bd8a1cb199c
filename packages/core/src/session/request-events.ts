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

/** How long what a contributor gives stays as it is. What stays longest stands first. */
export const stabilities = ['stable', 'per-session', 'volatile'] as const
export type Stability = (typeof stabilities)[number]

const origin = z.object({
  part: z.string(),
  row: z.string(),
  tokens: z.number(),
  stability: z.enum(stabilities).optional(),
  /** Of a section: the beginning of the SHA-256 (hex) of its text. */
  digest: z.string().optional(),
})

const header = z.object({
  provider: z.string(),
  model: z.string(),
  params,
  tools: z.array(toolSpec),
  reason: z.enum(['initial', 'change']),
  /** Which row contributed what and its estimated tokens: for people, never sent. */
  origin: z.array(origin),
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
  reduce: (_, { seq, data }): RequestContext => ({ ...data, seq }),
})
export interface RequestContext extends z.infer<typeof context> {
  /** Of the fact; absent in what older versions kept. */
  readonly seq?: number
}

const prefixChange = z.object({
  /** `added` to `moved` are of one part, named as in `origin`; `route`: nothing else explains it. */
  why: z.enum([
    'added',
    'removed',
    'changed',
    'moved',
    'model',
    'params',
    'compaction',
    'pruning',
    'reasoning',
    'route',
  ]),
  part: z.string().optional(),
  row: z.string().optional(),
  /** What the row declares of the part. */
  stability: z.enum(stabilities).optional(),
})
export type PrefixChange = z.infer<typeof prefixChange>

/** The body of an attempt does not begin, byte for byte, as that of the attempt before it. */
export const requestPrefix = defineEvent({
  type: 'request/prefix',
  schema: z.object({
    turn: z.number().int(),
    step: z.number().int(),
    attempt: z.number().int(),
    /** Bytes that both begin with. Absent where the one before cannot be made any more. */
    sharedBytes: z.number().int().optional(),
    /** Bytes of the one before that follow those. */
    lostBytes: z.number().int().optional(),
    /** The one before is of another process, or of other rows. */
    resumed: z.boolean().optional(),
    changes: z.array(prefixChange),
  }),
})

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
