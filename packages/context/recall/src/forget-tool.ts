import type { Memories, SessionQuery } from '@cordage/core/store'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { findCopies, type Copies } from './copies.ts'

const parameters = z.strictObject({ id: z.string() })

/** Nothing of the text: it would be one copy more. */
export interface Forgotten extends Copies {
  readonly id: string
  /** How many earlier versions went with it. */
  readonly earlier: number
  /** The file that nothing of it is left in. */
  readonly location: string
  /** Files that were set aside, and may hold it. */
  readonly aside: readonly string[]
}

/** Forgets an item with its history, and names every copy that is still there. */
export async function forget(
  memories: Memories,
  sessionQuery: SessionQuery | undefined,
  { project, id, signal }: { project: string; id: string; signal: AbortSignal },
): Promise<Forgotten> {
  const { items, aside } = await memories.forget(project, id)
  const copies = await findCopies(sessionQuery, items, signal)
  return { id, earlier: items.length - 1, location: memories.location, aside, ...copies }
}

export function forgetTool(memories: Memories, sessionQuery: () => SessionQuery | undefined) {
  return defineTool<z.output<typeof parameters>, Forgotten>({
    name: 'memory_forget',
    description: 'Forgets an item and its history, and names the copies that remain.',
    parameters,
    effects: ({ id }) => [{ kind: 'config', target: `long-term memory: forget ${id}` }],
    execute: ({ id }, { project, signal }) => {
      return forget(memories, sessionQuery(), { project, id, signal })
    },
    render: forgottenText,
    title: ({ id }) => `forget ${id}`,
  })
}

export function forgottenText({ id, earlier, location, facts, gaps, aside }: Forgotten): string {
  const also = earlier === 0 ? '' : ` and ${earlier} earlier versions`
  const sessions = Object.entries(facts).map(([session, seqs]) => {
    const places = seqs.map((seq) => `#${seq}`).join(' ')
    return `- session ${session} (${places}), with its blobs and its part of the search index: \`cordage sessions delete ${session}\``
  })
  return [
    `Forgotten: ${id}${also}. Nothing of it is left in ${location}.`,
    'Not removed, each with what removes it:',
    ...sessions,
    ...aside.map((file) => `- ${file}, set aside because it was spoiled: delete the file`),
    '- exports of sessions, backups and what providers keep: nothing here knows of them',
    ...gaps.map((gap) => `There may be more copies in sessions: ${gap}.`),
  ].join('\n')
}
