import {
  compactionSummary,
  type PinnedFact,
  type Session,
  type SurfaceEntry,
} from '@cordage/core/session'

/** What the summaries among `entries` carry word for word, the newest first. */
export async function carriedBy(
  session: Session,
  entries: readonly SurfaceEntry[],
): Promise<readonly PinnedFact[]> {
  const known = new Set(session.state(compactionSummary).map(({ seq }) => seq))
  const carried: PinnedFact[] = []
  for (const { seq } of entries.filter((entry) => known.has(entry.seq))) {
    for await (const fact of session.read(seq)) {
      if (compactionSummary.is(fact)) carried.unshift(...(fact.data.pinned ?? []))
      break
    }
  }
  return carried
}

/** The facts of what was said, earlier summaries aside: they have episodes of their own. */
export function coveredBy(entries: readonly SurfaceEntry[]): { from: number; to: number } {
  const said = entries.filter(({ message: { source } }) => {
    return source.kind !== 'plugin' || source.form !== 'summary'
  })
  let [from, to] = [Infinity, -Infinity]
  // A result may stand before one that came earlier; there may be too many for one call.
  for (const { seq } of said.length > 0 ? said : entries) {
    from = Math.min(from, seq)
    to = Math.max(to, seq)
  }
  return { from, to }
}
