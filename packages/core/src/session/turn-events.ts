import { z } from 'zod'
import { addUsage, type Usage } from '../message/index.ts'
import { defineEvent } from './event.ts'
import { messageSchema, usageSchema } from './message-schema.ts'
import { stabilities } from './request-events.ts'

const turn = z.number().int().min(1)
const step = z.number().int().min(1)
const attempt = z.number().int().min(1)
const message = messageSchema
const usage = usageSchema
const failure = z.object({ code: z.string(), message: z.string() })

export type Failure = z.infer<typeof failure>

export const turnEndReasons = [
  'completed',
  'aborted',
  'blocked',
  'budget',
  'max-tokens',
  'interrupted',
  'error',
] as const
export type TurnEndReason = (typeof turnEndReasons)[number]

export const turnStart = defineEvent({ type: 'turn/start', schema: z.object({ turn }) })
export const turnEnd = defineEvent({
  type: 'turn/end',
  schema: z.object({ turn, reason: z.enum(turnEndReasons), error: failure.optional() }),
})
export const stepStart = defineEvent({ type: 'step/start', schema: z.object({ turn, step }) })
export const stepEnd = defineEvent({ type: 'step/end', schema: z.object({ turn, step }) })

export const userMessage = defineEvent({
  type: 'user/message',
  schema: z.object({ message }),
  visible: true,
})
/**
 * A version of the system prompt; the last one counts. In front it takes the place of all earlier
 * ones (an empty text clears them); in history the earlier ones stay, so that the prefix does.
 */
export const systemMessage = defineEvent({
  type: 'system/message',
  schema: z.object({ message, placement: z.enum(['front', 'in-history']) }),
})
/** A snapshot of changing facts, injected with the user's role; `id` names the contributor. */
export const contextMessage = defineEvent({
  type: 'context/message',
  schema: z.object({
    id: z.string(),
    row: z.string(),
    message,
    stability: z.enum(stabilities).optional(),
  }),
})
export const assistantMessage = defineEvent({
  type: 'assistant/message',
  schema: z.object({
    turn,
    step,
    attempt,
    message,
    finish: z.string(),
    usage: usage.optional(),
    costUsd: z.number().optional(),
    interrupted: z.boolean().optional(),
    /** Opaque state of the route that made the message; no other route may be given it. */
    replay: z.unknown().optional(),
  }),
  visible: true,
  initial: undefined as LastUsage | undefined,
  reduce: (last, { seq, data }): LastUsage | undefined => {
    if (!data.usage) return last
    const { source } = data.message
    const model = source.kind === 'model' ? `${source.provider}/${source.model}` : ''
    const total = sumUsage(last?.total ?? last?.usage, data.usage)
    return { seq, model, usage: data.usage, ...(total ? { total } : {}) }
  },
})
/** What the last answer that came with a usage took, and of which model it was. */
export interface LastUsage {
  readonly seq: number
  /** `<provider>/<model id>` */
  readonly model: string
  readonly usage: Usage
  /** Of all answers so far; absent in what older versions kept. */
  readonly total?: Usage
}

export const attemptStart = defineEvent({
  type: 'attempt/start',
  schema: z.object({
    turn,
    step,
    attempt,
    /** SHA-256 of the JSON of the body, whose members an adapter always gives in one order. */
    digest: z.string().optional(),
    /** Where the request goes, where it goes over HTTP. */
    url: z.string().optional(),
  }),
  initial: undefined as LastAttempt | undefined,
  reduce: (_, { seq, data: { digest } }): LastAttempt => ({
    seq,
    ...(digest === undefined ? {} : { digest }),
  }),
})
/** The attempt that was made last; absent in what older versions kept. */
export interface LastAttempt {
  readonly seq: number
  readonly digest?: string
}

export const attemptFailed = defineEvent({
  type: 'attempt/failed',
  schema: z.object({
    turn,
    step,
    attempt,
    /** `rejected`: what of the request the server does not take any more. */
    error: failure.extend({ retryable: z.boolean(), rejected: z.literal('reasoning').optional() }),
    usage: usage.optional(),
    costUsd: z.number().optional(),
    /** What had arrived: kept for people, never sent to a model. */
    partial: z.string().optional(),
    retryInMs: z.number().optional(),
    /** `<provider>/<model id>` that takes the step over. */
    nextModel: z.string().optional(),
  }),
  visible: true,
  /** What all failed attempts took. */
  initial: undefined as Usage | undefined,
  reduce: (total, { data: { usage } }): Usage | undefined => sumUsage(total, usage),
})

function sumUsage(total: Usage | undefined, usage: Usage | undefined): Usage | undefined {
  return total && usage ? addUsage(total, usage) : (usage ?? total)
}
