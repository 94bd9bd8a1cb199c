import { z } from 'zod'
import { defineEvent } from './event.ts'
import { messageSchema } from './message-schema.ts'

const message = messageSchema
const id = z.string()
/**
 * The `seq` of the first and of the last surface entry that is shadowed, with all that stand
 * between them, but for the system prompt. By place: a summary's own `seq` is higher than that of
 * the entries after it. A range whose ends are not on the surface shadows nothing.
 */
const range = z.object({ from: z.number().int(), to: z.number().int() })

export const compactionStart = defineEvent({
  type: 'compaction/start',
  schema: z.object({ id }),
})
/** Replaces the entries of `range` by one message. The originals stay in the log. */
export const compactionSummary = defineEvent({
  type: 'compaction/summary',
  schema: z.object({ id, range, message }),
  visible: true,
})
/** Replaces the content of single tool results, by the `seq` of each. */
export const compactionPrune = defineEvent({
  type: 'compaction/prune',
  schema: z.object({
    id,
    replaced: z.array(z.object({ seq: z.number().int(), text: z.string() })),
  }),
})
export const compactionEnd = defineEvent({
  type: 'compaction/end',
  schema: z.object({ id, error: z.object({ code: z.string(), message: z.string() }).optional() }),
})
