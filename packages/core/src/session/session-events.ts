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
