import type { EventHit, SearchPage, SessionMatch, SessionQuery } from '@cordage/core/store'
import { defineTool, type ToolRun } from '@cordage/core/tool'
import { z } from 'zod'
import { authorise } from './authorise.ts'
import { background, dateText, oneLine } from './background.ts'
import { queryError } from './errors.ts'

const words = {
  query: z.string(),
  cursor: z.string().optional(),
}

const sessionParameters = z.strictObject(words)
const eventParameters = z.strictObject({
  ...words,
  session: z.string().optional(),
  types: z.array(z.string()).min(1).optional(),
  since: z.string().optional(),
  until: z.string().optional(),
})

/** Which sessions are about something; that of the caller is left out, which has it anyway. */
export function sessionSearchTool(sessionQuery: SessionQuery, limit: number) {
  return defineTool<z.output<typeof sessionParameters>, SearchPage<SessionMatch>>({
    name: 'session_search',
    description:
      'Finds earlier sessions of this project by words, "a phrase" or begin*, best first.',
    parameters: sessionParameters,
    effects: () => [],
    execute: ({ query, cursor }, run) =>
      sessionQuery.sessions({
        ...askedBy(run, query, limit, cursor),
        except: run.sessionId,
      }),
    render: (page) => renderPage(page, ({ events }) => ` (${events} found)`),
    ...looking(({ query }) => `search sessions for ${query}`),
  })
}

/** Where in sessions something was said; with `session` also in that of the caller. */
export function eventSearchTool(sessionQuery: SessionQuery, limit: number) {
  return defineTool<z.output<typeof eventParameters>, SearchPage<EventHit>>({
    name: 'session_event_search',
    description:
      'The same for single events: also in one session (this one too), of types such as ' +
      'user/message or tool/result, or between dates.',
    parameters: eventParameters,
    effects: () => [],
    execute: async ({ query, cursor, session, types, since, until }, run) => {
      if (session !== undefined) authorise((await sessionQuery.trace(session)).session.header, run)
      return sessionQuery.events({
        ...askedBy(run, query, limit, cursor),
        ...(session === undefined ? { except: run.sessionId } : { session }),
        ...(types === undefined ? {} : { types }),
        ...(since === undefined ? {} : { since: timeOf(since, 'start') }),
        ...(until === undefined ? {} : { until: timeOf(until, 'end') }),
      })
    },
    render: (page) => renderPage(page, () => ''),
    ...looking(({ query }) => `search events for ${query}`),
  })
}

/** They change nothing, and may run beside others. */
function looking<Args>(title: (args: Args) => string) {
  return { concurrent: () => true, idempotent: true, title }
}

function askedBy(run: ToolRun, text: string, limit: number, cursor: string | undefined) {
  const { project, signal } = run
  return { text, project, limit, signal, ...(cursor === undefined ? {} : { cursor }) }
}

/** Of a day alone, its start or its end. Throws `SESSION_QUERY_TIME`. */
function timeOf(value: string, edge: 'start' | 'end'): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(value)
  const time = Date.parse(isDay && edge === 'end' ? `${value}T23:59:59.999Z` : value)
  if (Number.isNaN(time)) throw queryError('SESSION_QUERY_TIME', { value })
  return time
}

function renderPage<Hit extends EventHit>(
  { hits, next, behind, unreadable }: SearchPage<Hit>,
  more: (hit: Hit) => string,
): string {
  const notes = [
    ...(behind > 0 ? [`Not searched yet: ${behind} sessions; ask again.`] : []),
    ...(unreadable.length > 0 ? [`Damaged in part: ${unreadable.slice(0, 5).join(', ')}`] : []),
    ...(next === undefined ? [] : [`More with cursor ${next}`]),
  ]
  if (hits.length === 0) return background(['Nothing found.'], notes)
  return background(
    hits.map((hit) => `${renderHit(hit)}${more(hit)}`),
    notes,
  )
}

/** Whose words they are comes before them. */
function renderHit({ session, seq, time, type, source, title, snippet }: EventHit): string {
  const place = `${session} #${seq} ${dateText(time)} [${oneLine(title.slice(0, 60))}]`
  return `${place} ${source}, ${type}: ${oneLine(snippet)}`
}
