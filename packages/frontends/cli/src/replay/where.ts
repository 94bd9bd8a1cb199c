import { textOf } from '@cordage/core/message'
import type { PromptPart } from '@cordage/core/prompt'
import type { RequestHeader, SurfaceEntry } from '@cordage/core/session'
import { commonLength } from './first-difference.ts'

/** Between two sections. */
const SEPARATOR = '\n\n'.length
const SECTION = 'system: '

export interface Side {
  readonly surface: readonly SurfaceEntry[]
  readonly header: RequestHeader
}

export interface Sides {
  readonly before: Side
  readonly after: Side
  /** The sections of the system prompt as they are now. */
  readonly sections: readonly PromptPart[]
}

/** Says in words which part of a request a path in its body leads to. */
export function whereOf(path: readonly string[], body: unknown, sides: Sides): string {
  const [head = '', index = ''] = path
  const list = member(body, head)
  if (head === 'tools') return toolAt(member(list, index), index, sides)
  if (head === 'system' || head === 'instructions') return systemAt(sides)
  if (head !== 'messages' && head !== 'input') return `the member "${head}"`
  const item = member(list, index)
  const role = String(member(item, 'role') ?? member(item, 'type') ?? 'missing')
  if (role === 'system' || role === 'developer') return systemAt(sides)
  return `message ${index} (${role})`
}

/** The tool at a place now, or the one that was there and is gone. */
function toolAt(tool: unknown, index: string, { before, after }: Sides): string {
  const now = member(tool, 'name') ?? member(member(tool, 'function'), 'name')
  const [old, fresh] = [before, after].map(({ header }) => header.tools.map(({ name }) => name))
  const was = old?.[Number(index)]
  if (was !== undefined && !fresh?.includes(was)) {
    return `tool ${quoted(was, rowOf(before, `tool: ${was}`))}, which is gone`
  }
  if (typeof now !== 'string') return 'the tools'
  const named = `tool ${quoted(now, rowOf(after, `tool: ${now}`))}`
  return old?.includes(now) ? named : `${named}, which is new`
}

/** The section in which the system prompts part. */
function systemAt({ before, after, sections }: Sides): string {
  const at = commonLength(systemOf(before), systemOf(after))
  let start = 0
  let reached: PromptPart | undefined
  for (const section of sections) {
    if (start > at) break
    reached = section
    start += section.text.length + SEPARATOR
  }
  // What ends where both still agree is followed by something else than it was.
  const whole = reached !== undefined && at >= start - SEPARATOR
  const next = reached && whole ? sections[sections.indexOf(reached) + 1] : undefined
  if (next && rowOf(before, SECTION + next.id) === undefined) {
    return `system prompt, section ${quoted(next.id, next.row)}, which is new`
  }
  const gone = before.header.origin.find(({ part }) => {
    return part.startsWith(SECTION) && !sections.some(({ id }) => part === SECTION + id)
  })
  if (gone && (whole || !reached)) {
    return `system prompt, section ${quoted(gone.part.slice(SECTION.length), gone.row)}, which is gone`
  }
  return reached ? `system prompt, section ${quoted(reached.id, reached.row)}` : 'system prompt'
}

function rowOf({ header }: Side, part: string): string | undefined {
  return header.origin.find((origin) => origin.part === part)?.row
}

function quoted(name: string, row: string | undefined): string {
  return row === undefined ? `"${name}"` : `"${name}" (row ${row})`
}

function systemOf({ surface }: Side): string {
  const entry = surface.findLast(({ message }) => message.role === 'system')
  return entry ? textOf(entry.message) : ''
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as Record<string, unknown>)[key]
}
