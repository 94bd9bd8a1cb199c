import { textOf, type Message } from '@cordage/core/message'
import type { SurfaceEntry } from '@cordage/core/session'

export interface Alignment {
  /** What is to be compared, in the order of the log. */
  readonly entries: readonly SurfaceEntry[]
  /** Contributors whose snapshot is another one in this place and at this time. */
  readonly surroundings: readonly string[]
}

interface AlignOptions {
  /** Calls whose results came from the log: so does their text. */
  readonly played: ReadonlySet<string>
  /** Whether a contributor of snapshots belongs to both trees. */
  readonly isCommon: (entry: SurfaceEntry) => boolean
}

/**
 * What the tree made, with the ids of the log. Snapshots of what is around (date, directory,
 * instructions) stay as recorded where both trees have their contributor, and are named.
 */
export function align(
  recorded: readonly SurfaceEntry[],
  live: readonly SurfaceEntry[],
  { played, isCommon }: AlignOptions,
): Alignment {
  const shared = new Set(recorded.map(({ message }) => message.id))
  const isSurrounding = (entry: SurfaceEntry) => entry.contextId !== undefined && isCommon(entry)
  const dropped = live.filter((entry) => isSurrounding(entry) && !shared.has(entry.message.id))
  const rest = live.filter((entry) => !isSurrounding(entry))
  const entries: SurfaceEntry[] = []
  for (const entry of recorded) {
    if (isSurrounding(entry)) {
      entries.push(entry)
      continue
    }
    const own = rest.shift()
    if (own) entries.push({ ...own, message: withIds(own.message, entry.message, played) })
  }
  const others = dropped.filter((entry) => textOf(entry.message) !== lastText(recorded, entry))
  const surroundings = [...new Set(others.map(({ contextId = '' }) => contextId))]
  return { entries: [...entries, ...rest], surroundings }
}

function lastText(recorded: readonly SurfaceEntry[], { contextId }: SurfaceEntry) {
  const last = recorded.findLast((entry) => entry.contextId === contextId)
  return last && textOf(last.message)
}

function withIds(live: Message, recorded: Message, played: ReadonlySet<string>): Message {
  if (live.role !== recorded.role) return live
  const { source } = live
  const same = source.kind === 'tool' && recorded.source.kind === 'tool'
  if (same && source.callId === (recorded.source as { callId: string }).callId) {
    if (played.has(source.callId)) return recorded
  }
  return live.id === recorded.id ? live : { ...live, id: recorded.id }
}
