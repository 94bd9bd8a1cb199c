import { definePlugin } from '@cordage/core/kernel'
import type { PromptContext } from '@cordage/core/prompt'
import { defineEvent, type Session } from '@cordage/core/session'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'

const note = z.strictObject({ text: z.string().min(1) })

/** The log is the truth: notes are what folding it gives, in this process and in the next. */
const noteAdded = defineEvent({
  type: 'example-notes/added',
  schema: note,
  visible: true,
  initial: [] as readonly string[],
  reduce: (notes, { data }) => [...notes, data.text],
})

type FindSession = (id: string) => Session | undefined

export default definePlugin({
  name: 'tool-notes',
  inject: ['sessions', 'tools', 'prompt'],
  apply(ctx) {
    const find: FindSession = (id) => ctx.sessions.list().find((session) => session.id === id)
    ctx.sessions.events.register(ctx, noteAdded)
    ctx.tools.register(ctx, noteTool(find))
    ctx.prompt.context(ctx, notesContext(find))
  },
})

function noteTool(find: FindSession) {
  return defineTool({
    name: 'note',
    description: 'Keeps a note for the rest of this session.',
    parameters: note,
    effects: () => [],
    async execute({ text }, { sessionId }) {
      await find(sessionId)?.append([noteAdded({ text })])
      return 'Noted.'
    },
  })
}

function notesContext(find: FindSession): PromptContext {
  return {
    id: 'notes',
    render({ sessionId }) {
      const notes = find(sessionId)?.state(noteAdded) ?? []
      return notes.length === 0 ? undefined : `Your notes:\n- ${notes.join('\n- ')}`
    },
  }
}
