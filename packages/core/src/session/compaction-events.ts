import { z } from 'zod'
import { defineEvent } from './event.ts'
import { messageSchema, usageSchema } from './message-schema.ts'

const message = messageSchema
const id = z.string()
const seq = z.number().int()
/**
 * The `seq` of the first and of the last surface entry that is shadowed, with all that stand
 * between them, but for the system prompt. By place: a summary's own `seq` is higher than that of
 * the entries after it. A range whose ends are not on the surface shadows nothing.
 */
const range = z.object({ from: seq, to: seq })

/** What a compaction carries over word for word, taken from the log without a model. */
export const pinnedFactSchema = z.object({
  /** What sort of fact, as in `goal`, `constraint`, `file`, `error`. */
  kind: z.string(),
  text: z.string(),
  /** The fact it was taken from. */
  seq: seq.optional(),
  /** The contributor that said it; absent for what was taken from the messages. */
  by: z.string().optional(),
})
export type PinnedFact = z.infer<typeof pinnedFactSchema>

/** What the calls for a summary took. Its `source` keeps it from causing the next compaction. */
const spent = z.object({
  usage: usageSchema,
  provider: z.string().optional(),
  model: z.string().optional(),
  costUsd: z.number().optional(),
  source: z.literal('context_compression'),
})
export type CompactionSpent = z.infer<typeof spent>

export const compactionStart = defineEvent({
  type: 'compaction/start',
  schema: z.object({ id, trigger: z.string().optional() }),
})
/**
 * Replaces the entries of `range` by one message. The originals stay in the log: those of its
 * episode, whose id is `id`, are the messages of the facts in `covers`.
 */
export const compactionSummary = defineEvent({
  type: 'compaction/summary',
  schema: z.object({
    id,
    range,
    message,
    covers: range.optional(),
    pinned: z.array(pinnedFactSchema).optional(),
  }),
  visible: true,
  initial: Object.freeze([]) as readonly Episode[],
  reduce: (episodes, { seq, data }): readonly Episode[] => {
    return [...episodes, { id: data.id, seq, covers: data.covers ?? data.range }]
  },
})
/** Where the log has what an episode was and became. It is one once its compaction ended well. */
export interface Episode {
  readonly id: string
  /** Of the `compaction/summary`. */
  readonly seq: number
  readonly covers: { readonly from: number; readonly to: number }
}

/** Replaces the content of single tool results, by the `seq` of each. */
export const compactionPrune = defineEvent({
  type: 'compaction/prune',
  schema: z.object({
    id,
    /** `handle`: of the note in the text, by which the whole is read. */
    replaced: z.array(z.object({ seq, text: z.string(), handle: z.string().optional() })),
  }),
  initial: Object.freeze({}) as PrunedResults,
  reduce: (pruned, { data: { replaced } }): PrunedResults => {
    const named = replaced.flatMap(({ seq, handle }) => (handle ? [[handle, seq] as const] : []))
    return { ...pruned, ...Object.fromEntries(named) }
  },
})
/** The fact that has a result whole, by the handle that was left in its place. */
export type PrunedResults = Readonly<Record<string, number>>

export const compactionEnd = defineEvent({
  type: 'compaction/end',
  schema: z.object({
    id,
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    /** With an error: what was paid for nothing, which is no usage record of the session. */
    spent: spent.optional(),
  }),
  initial: Object.freeze({ ended: Object.freeze([]) }) as CompactionsEnded,
  reduce: (state, { seq, data }): CompactionsEnded => {
    if (data.error) return state
    const { spent } = data
    const usage = spent ? { usage: { seq, ...spent } } : {}
    return { ...state, ...usage, ended: [...state.ended, data.id], seq }
  },
})
/** The compactions that ended well, oldest first. */
export interface CompactionsEnded {
  readonly ended: readonly string[]
  /** Of the last one. */
  readonly seq?: number
  readonly usage?: CompactionSpent & { readonly seq: number }
}
