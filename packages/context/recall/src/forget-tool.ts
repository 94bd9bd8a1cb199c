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
  /** The file that it is gone from. */
  readonly location: string
  /** Items that say the same and stay, and how many more other projects have. */
  readonly same: readonly string[]
  readonly sameElsewhere: number
  /** Files that were set aside, and may hold it. */
  readonly aside: readonly string[]
}

/** Forgets an item with its history, and names every copy that is still there. */
export async function forget(
  memories: Memories,
  sessionQuery: SessionQuery | undefined,
  { project, id, signal }: { project: string; id: string; signal: AbortSignal },
): Promise<Forgotten> {
  const { items, ...kept } = await memories.forget(project, id)
  const copies = await findCopies(sessionQuery, items, signal)
  return { id, earlier: items.length - 1, location: memories.location, ...kept, ...copies }
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

export function forgottenText(forgotten: Forgotten): string {
  const { id, earlier, location, facts, gaps, aside, same, sameElsewhere } = forgotten
  const also = earlier === 0 ? '' : ` and ${earlier} earlier versions`
  const left = same.length + sameElsewhere === 0 ? ` Nothing of it is left in ${location}.` : ''
  const sessions = Object.entries(facts).map(([session, seqs]) => {
    const places = seqs.map((seq) => `#${seq}`).join(' ')
    return `- session ${session} (${places}), with its blobs and its part of the search index: \`cordage sessions delete ${session}\``
  })
  return [
    `Forgotten: ${id}${also}.${left}`,
    'Not removed, each with what removes it:',
    ...same.map((other) => `- ${other}, which says the same: \`/memory forget ${other}\``),
    ...(sameElsewhere === 0
      ? []
      : [`- ${sameElsewhere} items of other projects, which say the same: \`/memory\` there`]),
    ...sessions,
    ...aside.map((file) => `- ${file}, set aside because it was spoiled: delete the file`),
    '- what a digest told sessions at their start, exports of sessions, backups and what providers' +
      ' keep: nothing here knows of them',
    ...gaps.map((gap) => `There may be more copies in sessions: ${gap}.`),
  ].join('\n')
}
