const MAX_DEPTH = 500

/** Says where a value stops being JSON; `append` turns it into `EVENT_INVALID`. */
export class NotJsonError extends Error {
  override readonly name = 'NotJsonError'
}

/**
 * A deep-frozen copy that JSON text can carry without loss. Members that are undefined are left
 * out, as absent optional ones; everything else that JSON would change or drop is refused.
 */
export function frozenJson(value: unknown): unknown {
  return copy(value, [], new Set())
}

/** Freezes what came out of `JSON.parse`, in place. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}

function copy(value: unknown, path: string[], above: Set<object>): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(path, `is ${value}`)
    // JSON text has no negative zero.
    return value === 0 ? 0 : value
  }
  if (typeof value !== 'object') refuse(path, `is of type ${typeof value}`)
  if (above.has(value)) refuse(path, 'contains itself')
  if (path.length > MAX_DEPTH) refuse([], `is nested more than ${MAX_DEPTH} deep`)
  above.add(value)
  const copied = Array.isArray(value)
    ? copyArray(value, path, above)
    : copyObject(value, path, above)
  above.delete(value)
  return Object.freeze(copied)
}

function copyArray(value: readonly unknown[], path: string[], above: Set<object>): unknown[] {
  // Not map: it skips the holes of a sparse array.
  return Array.from(value, (member, index) => copyMember(member, String(index), path, above))
}

function copyObject(value: object, path: string[], above: Set<object>): object {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) refuse(path, 'is not a plain object')
  const entries: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) entries.push([key, copyMember(member, key, path, above)])
  }
  // Not assignment: a member may be named __proto__.
  return Object.fromEntries(entries)
}

function copyMember(member: unknown, key: string, path: string[], above: Set<object>): unknown {
  path.push(key)
  const copied = copy(member, path, above)
  path.pop()
  return copied
}

function refuse(path: readonly string[], what: string): never {
  throw new NotJsonError(path.length === 0 ? `its data ${what}` : `${path.join('.')} ${what}`)
}
