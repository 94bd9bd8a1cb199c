import { defineEvent } from '@cordage/core/session'
import { z } from 'zod'

const turn = z.number().int().min(0)

const kept = z.object({ hash: z.string(), mode: z.number().int() })
const notKept = z.object({ bytes: z.number(), mode: z.number().int(), notKept: z.string() })

/** What a file was: its bytes as a blob, why there is none, or `null` where no file was. */
const before = z.union([kept, notKept, z.null()])
export type Before = z.infer<typeof before>

/** What a session knows of a file that it changed. */
export interface Touched {
  /** The last turn in which the bytes before were kept. */
  readonly turn: number
  /** SHA-256 of what the session left there, `null` for no file; absent where nobody knows. */
  readonly left?: string | null
}

const none: Readonly<Record<string, Touched>> = {}

/**
 * One change of one file, durable before the file changes. `before` is there for the first change
 * in a turn; `after` is what the file was to hold (`null`: to be gone, absent: nobody knows).
 */
export const checkpointFile = defineEvent({
  type: 'checkpoint/file',
  schema: z.object({
    turn,
    path: z.string(),
    before: before.optional(),
    after: z.string().nullable().optional(),
    /** `failed`: the change before was not made, and `after` is what it was before it. */
    by: z.enum(['call', 'command', 'rewind', 'failed']),
    callId: z.string().optional(),
  }),
  initial: none,
  reduce(state, { data }): Readonly<Record<string, Touched>> {
    const { path, after } = data
    const kept = data.before === undefined ? (state[path]?.turn ?? data.turn) : data.turn
    return { ...state, [path]: { turn: kept, ...(after === undefined ? {} : { left: after }) } }
  },
})

/** Files are about to be put back: follows the last fact of another rewind, or none. */
export const checkpointRestoring = defineEvent({
  type: 'checkpoint/restoring',
  schema: z.object({ turn: turn.optional(), files: z.array(z.string()) }),
})

/**
 * Files are as they were before `turn`, or, without one, as before the last rewind. `since` is the
 * first fact of the rewind, which an undo goes back to.
 */
export const checkpointRestored = defineEvent({
  type: 'checkpoint/restored',
  schema: z.object({
    turn: turn.optional(),
    since: z.number().int(),
    files: z.array(z.object({ path: z.string(), action: z.enum(['written', 'removed']) })),
  }),
  visible: true,
})
