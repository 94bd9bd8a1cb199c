import { defineEvent } from '@cordage/core/session'
import { z } from 'zod'

/** In the parent's log, before the child takes its first step: whose work a call is. */
export const subagentStart = defineEvent({
  type: 'subagent/start',
  schema: z.object({
    turn: z.number().int(),
    callId: z.string(),
    /** The child's. */
    session: z.string(),
    kind: z.enum(['spawn', 'fork']),
    description: z.string(),
  }),
})
