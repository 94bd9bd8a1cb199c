import { z } from 'zod'
import { defineEvent, type FactOf } from './event.ts'
import { spentSchema } from './message-schema.ts'

/** The current directory of the session from here on. The project it belongs to never changes. */
export const sessionDirectory = defineEvent({
  type: 'session/directory',
  schema: z.object({ cwd: z.string() }),
  initial: undefined as string | undefined,
  reduce: (_, { data }) => data.cwd,
})

export const sessionTitle = defineEvent({
  type: 'session/title',
  schema: z.object({
    title: z.string(),
    by: z.enum(['user', 'model', 'first-words']),
    /** Where a model was asked for it. */
    spent: spentSchema.optional(),
  }),
  visible: true,
  initial: undefined as string | undefined,
  reduce: (_, { data }) => data.title,
})

/** Put away by its owner: lists leave the session out unless they are asked for such ones too. */
export const sessionArchived = defineEvent({
  type: 'session/archived',
  schema: z.object({ archived: z.boolean() }),
  visible: true,
  initial: false,
  reduce: (_, { data }) => data.archived,
})

/** A child is about to work on a call, so that people can tell whose work it was. */
export const sessionChild = defineEvent({
  type: 'session/child',
  schema: z.object({
    /** The child's. */
    session: z.string(),
    kind: z.enum(['spawn', 'fork']),
    description: z.string(),
    turn: z.number().int().min(1),
    callId: z.string(),
  }),
  visible: true,
})

const missing = z.object({
  from: z.number().int(),
  /** Exclusive; absent when it cannot be known whether there were any. */
  to: z.number().int().optional(),
  reason: z.string(),
})

/** Last fact of a session that holds what could be read of a damaged one. Numbers are old ones. */
export const sessionSalvaged = defineEvent({
  type: 'session/salvaged',
  schema: z.object({
    /** The damaged session. */
    from: z.string(),
    facts: z.number().int(),
    missing: z.array(missing).readonly(),
    lostBlobs: z.array(z.string()).readonly(),
  }),
  visible: true,
})

/** What a salvage came to; `id` names the new session. */
export type Salvaged = FactOf<typeof sessionSalvaged>['data'] & { readonly id: string }

/** Last fact of an import, so that one that was cut short has none: where the history is from. */
export const sessionImported = defineEvent({
  type: 'session/imported',
  schema: z.object({
    /** The program whose transcript it was, such as `claude-code`. */
    from: z.string(),
    /** The session's own name there. */
    session: z.string().optional(),
    path: z.string().optional(),
    /** SHA-256 (hex) of the transcript. */
    sha256: z.string(),
    /** What could not be carried: how often, by kind. */
    left: z.record(z.string(), z.number()).optional(),
  }),
  visible: true,
  initial: undefined as string | undefined,
  reduce: (_, { data }) => data.sha256,
})

const composedRow = z.object({
  id: z.string(),
  name: z.string(),
  /** As written: what is taken from the environment is `{ "!env": name }`. */
  config: z.record(z.string(), z.unknown()).optional(),
  disabled: z.boolean().optional(),
  optional: z.boolean().optional(),
  /** The preset whose row it is; absent for a row of the composition itself. */
  preset: z.string().optional(),
})

/** A row as a session remembers it. */
export type ComposedRow = z.infer<typeof composedRow>

/** With what the steps from here on are run. Logged when it differs from the last one. */
export const sessionComposition = defineEvent({
  type: 'session/composition',
  schema: z.object({
    profile: z.string(),
    preset: z.string(),
    mode: z.string(),
    writableRoots: z.array(z.string()),
    rows: z.array(composedRow),
    /** SHA-256 (hex) of all of the above. */
    digest: z.string(),
  }),
  initial: undefined as string | undefined,
  reduce: (_, { data }) => data.digest,
})
