import { z } from 'zod'
import type { BlobRef } from '../message/index.ts'
import { defineEvent } from './event.ts'
import { toolResultSchema } from './message-schema.ts'

const call = {
  turn: z.number().int().min(1),
  step: z.number().int().min(1),
  callId: z.string(),
  name: z.string(),
}
const part = toolResultSchema

/** Logged, and durable, before the body of the tool runs. */
export const toolCall = defineEvent({
  type: 'tool/call',
  schema: z.object({ ...call, arguments: z.string() }),
  visible: true,
})

/** Logged when the body ends; the surface orders results by call, whatever the order here. */
export const toolResult = defineEvent({
  type: 'tool/result',
  schema: z.object({
    ...call,
    messageId: z.string(),
    part,
    /** Why there is no ordinary result. Codes: DESIGN section 5, and the tool's own. */
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    /** The canonical JSON value, where it is small; its blob otherwise. */
    value: z.unknown().optional(),
    durationMs: z.number().optional(),
    /** Set when the model got only the ends of a long text; the whole is in the blob. */
    truncated: z
      .object({
        chars: z.number(),
        shownHead: z.number(),
        shownTail: z.number(),
        blob: z.custom<BlobRef>((value) => typeof value === 'object' && value !== null).optional(),
      })
      .optional(),
  }),
  visible: true,
})

/** `effects` are the canonical effects in question, as the broker saw them. */
export const approvalAsked = defineEvent({
  type: 'approval/asked',
  schema: z.object({
    id: z.string(),
    callId: z.string().optional(),
    tool: z.string().optional(),
    effects: z.array(z.record(z.string(), z.unknown())),
    reason: z.string(),
  }),
  visible: true,
})
export const approvalDecided = defineEvent({
  type: 'approval/decided',
  schema: z.object({
    id: z.string(),
    outcome: z.enum(['allowed', 'denied', 'unanswered']),
    scope: z.enum(['once', 'session', 'project', 'user']).optional(),
    by: z.string(),
    reason: z.string().optional(),
  }),
  visible: true,
})
