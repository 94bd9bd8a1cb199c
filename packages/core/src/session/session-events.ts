import { z } from 'zod'
import { defineEvent } from './event.ts'

/** The current directory of the session from here on. The project it belongs to never changes. */
export const sessionDirectory = defineEvent({
  type: 'session/directory',
  schema: z.object({ cwd: z.string() }),
  initial: undefined as string | undefined,
  reduce: (_, { data }) => data.cwd,
})

export const sessionTitle = defineEvent({
  type: 'session/title',
  schema: z.object({ title: z.string(), by: z.enum(['user', 'model', 'first-words']) }),
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
