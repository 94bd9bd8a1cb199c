import type { Fact } from '@cordage/core/session'
import type { SessionNode, SessionQuery } from '@cordage/core/store'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { authorise } from './authorise.ts'
import { background, dateText, oneLine } from './background.ts'

const parameters = z.strictObject({ session: z.string(), seq: z.number().int().min(0).optional() })

/** So many facts before and after the one that is asked for. */
const around = 5
const maxRelatives = 50
const maxFactChars = 200

interface TraceValue {
  readonly lines: readonly string[]
}

/** Where a session comes from and what came of it, and what happened around one of its facts. */
export function traceTool(sessionQuery: SessionQuery) {
  return defineTool<z.output<typeof parameters>, TraceValue>({
    name: 'session_trace',
    description: 'Parents, forks and children of a session, and events around seq.',
    parameters,
    effects: () => [],
    execute: async ({ session: id, seq }, run) => {
      const { session, ancestors, children } = await sessionQuery.trace(id)
      authorise(session.header, run)
      const show = (what: string) => (node: SessionNode) => `${what} ${nodeText(node, run.project)}`
      const relatives = [
        show('session')(session),
        ...ancestors.map(show('from')),
        ...children.slice(0, maxRelatives).map(show('child')),
        ...(children.length > maxRelatives ? [`and ${children.length - maxRelatives} more`] : []),
      ]
      if (seq === undefined) return { lines: relatives }
      const from = Math.max(0, seq - around)
      await sessionQuery.read(id, { from: seq, to: seq })
      const { facts } = await sessionQuery.read(id, { from, to: seq + around + 1 })
      return { lines: [...relatives, ...facts.map((fact) => factText(fact, fact.seq === seq))] }
    },
    render: ({ lines }) => background(lines),
    concurrent: () => true,
    idempotent: true,
    title: ({ session }) => `trace ${session}`,
  })
}

/** Of a session of another project, that it is there and nothing of what it is about. */
function nodeText({ header, title }: SessionNode, project: string): string {
  const { id, parent, createdAt, depth } = header
  if (header.project !== project) return `${id} (of another project)`
  const how = parent ? `, ${parent.kind} of ${parent.id} at #${parent.seq ?? 'its start'}` : ''
  const who = depth > 0 ? ', an agent’s' : ''
  return `${id} ${dateText(createdAt)}${how}${who} [${oneLine(title.slice(0, 60))}]`
}

function factText({ seq, time, type, data }: Fact, isAsked: boolean): string {
  const text = JSON.stringify(data).slice(0, maxFactChars).toWellFormed()
  return `${isAsked ? '>' : ' '} #${seq} ${dateText(time)} ${type} ${oneLine(text)}`
}
