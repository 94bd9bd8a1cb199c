import { newId } from '../message/index.ts'
import { contextMessage, type NewFact, type SurfaceEntry } from '../session/index.ts'

/**
 * The last snapshot of each contributor that has none after those that are shadowed. The next step
 * would write them anew; a step that is in the middle of its attempts has them frozen.
 */
export function repeatable(
  shadowed: readonly SurfaceEntry[],
  before: readonly SurfaceEntry[],
): readonly SurfaceEntry[] {
  const gone = new Set<SurfaceEntry>(shadowed)
  const last = new Map(before.map((entry) => [entry.contextId, entry]))
  last.delete(undefined)
  return [...last.values()].filter((entry) => gone.has(entry))
}

export function repeat({ contextId: id = '', message, stability }: SurfaceEntry): NewFact {
  const row = message.source.kind === 'plugin' ? message.source.row : ''
  const declared = stability === undefined ? {} : { stability }
  return contextMessage({ id, row, message: { ...message, id: newId() }, ...declared })
}
