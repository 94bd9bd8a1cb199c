import { z } from 'zod'
import type { Message, ToolResultPart, Usage } from '../message/index.ts'

const text = z.looseObject({ type: z.literal('text'), text: z.string() })
const blob = z.looseObject({ hash: z.string(), bytes: z.number(), mediaType: z.string() })
const image = z.looseObject({ type: z.literal('image'), blob })
const result = z.looseObject({
  type: z.literal('tool-result'),
  callId: z.string(),
  name: z.string(),
  content: z.array(z.union([text, image])),
  isError: z.boolean(),
})

const parts: Readonly<Record<string, z.ZodType>> = {
  text,
  image,
  'tool-result': result,
  reasoning: z.looseObject({ text: z.string() }),
  'tool-call': z.looseObject({
    id: z.string(),
    name: z.string(),
    arguments: z.string(),
    wireId: z.string().optional(),
  }),
}

// Parts of an unknown type pass: a later version may have written them.
const part = z.looseObject({ type: z.string() }).superRefine((value, context) => {
  const schema = Object.hasOwn(parts, value.type) ? parts[value.type] : undefined
  for (const { path, message } of schema?.safeParse(value).error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: [...path], message })
  }
})

const message = z.looseObject({
  id: z.string(),
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.array(part),
  source: z.looseObject({ kind: z.string() }),
})

const tokens = z.number().nonnegative()
const usage = z.looseObject({
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadTokens: tokens.optional(),
  cacheWriteTokens: tokens.optional(),
  reasoningTokens: tokens.optional(),
})

// They let more pass than the types say (members and kinds that are not known), and change nothing.
export const messageSchema = message as unknown as z.ZodType<Message>
export const toolResultSchema = result as unknown as z.ZodType<ToolResultPart>
export const usageSchema = usage as unknown as z.ZodType<Usage>

const spent = z.looseObject({
  usage,
  provider: z.string().optional(),
  model: z.string().optional(),
  costUsd: z.number().nonnegative().optional(),
  /** How long it took. */
  ms: z.number().nonnegative().optional(),
  source: z.string(),
})

/**
 * What calls of a model took that were no attempt at a step, as a member `spent` of the fact that
 * came of them. `source` says what for: `context_compression`, `title`, or a plugin's own word.
 */
export interface Spent {
  readonly usage: Usage
  readonly provider?: string
  readonly model?: string
  readonly costUsd?: number
  readonly ms?: number
  readonly source: string
}

export const spentSchema = spent as unknown as z.ZodType<Spent>
