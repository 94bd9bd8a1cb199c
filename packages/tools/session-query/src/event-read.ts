import type { SessionQuery } from '@cordage/core/store'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { authorise } from './authorise.ts'
import { background, dateText } from './background.ts'

const parameters = z.strictObject({
  session: z.string(),
  seq: z.number().int().min(0),
  offset: z.number().int().min(0).optional(),
})

interface ReadValue {
  readonly session: string
  readonly seq: number
  readonly time: number
  readonly type: string
  /** JSON of the fact's data, from `offset` on. */
  readonly text: string
  readonly offset: number
  readonly of: number
}

/** One fact exactly as it is logged, a page at a time. */
export function readTool(sessionQuery: SessionQuery, maxChars: number) {
  return defineTool<z.output<typeof parameters>, ReadValue>({
    name: 'session_event_read',
    description: 'One event exactly as logged, from offset on.',
    parameters,
    effects: () => [],
    execute: async ({ session, seq, offset = 0 }, run) => {
      const { header, facts } = await sessionQuery.read(session, { from: seq, to: seq + 1 })
      authorise(header, run)
      const [fact] = facts
      const whole = JSON.stringify(fact?.data ?? null)
      const text = whole.slice(offset, offset + maxChars).toWellFormed()
      const { time = 0, type = '' } = fact ?? {}
      return { session, seq, time, type, text, offset, of: whole.length }
    },
    render: ({ session, seq, time, type, text, offset, of }) => {
      const end = offset + text.length
      const note =
        end < of ? `Characters ${offset} to ${end} of ${of}; more with offset ${end}` : ''
      const place = `${session} #${seq} ${dateText(time)} ${type}`
      return background([text], note === '' ? [place] : [place, note])
    },
    concurrent: () => true,
    idempotent: true,
    title: ({ session, seq }) => `read ${session} #${seq}`,
  })
}
