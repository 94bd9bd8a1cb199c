import type { Located, LocatedMap } from './located.ts'

/**
 * `patch` laid over `base`, as JSON merge patch (RFC 7396) does: mappings merge, null deletes,
 * lists and scalars replace. Neither is changed; every value keeps its own origin.
 */
export function merge(base: Located | undefined, patch: LocatedMap): LocatedMap
export function merge(base: Located | undefined, patch: Located): Located
export function merge(base: Located | undefined, patch: Located): Located {
  if (patch.type !== 'map') return patch
  const under = base?.type === 'map' ? base : undefined
  const entries = new Map(under?.entries)
  for (const [key, value] of patch.entries) {
    if (value.type === 'scalar' && value.value === null) entries.delete(key)
    else entries.set(key, merge(entries.get(key), value))
  }
  return { type: 'map', entries, origin: under?.origin ?? patch.origin }
}
