import type { Message } from '../message/index.ts'
import type { SurfaceEntry } from '../session/index.ts'
import { toolCallsPaired } from './pairing.ts'

/** What a compressor made of a history: the entries that one new message stands for. */
export interface Replacement {
  readonly message: Message
  readonly shadowed: readonly [SurfaceEntry, ...SurfaceEntry[]]
}

/**
 * Reads the one change that a draft may hold: a run of messages became a new one. Gives the reason
 * where it holds another, or leaves a call without its result on either side.
 */
export function readDraft(
  before: readonly SurfaceEntry[],
  after: readonly Message[],
): Replacement | 'history_invalid' | 'post_commit_pairing_violation' {
  if (!Array.isArray(after)) return 'history_invalid'
  const head = countWhile(before.length, (at) => before[at]?.message === after[at])
  const room = Math.min(before.length, after.length) - head
  const tail = countWhile(room, (at) => before.at(-1 - at)?.message === after.at(-1 - at))
  const [first, ...rest] = before.slice(head, before.length - tail)
  const made = after.slice(head, after.length - tail)
  const [message] = made
  if (!first || !message || made.length > 1) return 'history_invalid'
  const known = new Set(before.map((entry) => entry.message.id))
  if (known.has(message.id) || !isSummary(message)) return 'history_invalid'
  if (!toolCallsPaired(after.slice(0, head)) || !toolCallsPaired(after.slice(head))) {
    return 'post_commit_pairing_violation'
  }
  return { message, shadowed: [first, ...rest] }
}

/** Words of the user's role, so that every provider takes them, that name who wrote them. */
function isSummary({ role, source, content }: Message): boolean {
  const said = content.some((part) => part.type === 'text' && part.text.trim() !== '')
  return role === 'user' && source.kind === 'plugin' && said
}

function countWhile(most: number, holds: (at: number) => boolean): number {
  let count = 0
  while (count < most && holds(count)) count += 1
  return count
}
