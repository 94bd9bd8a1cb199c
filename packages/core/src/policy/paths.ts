import path from 'node:path'

/** An absolute path without `.`, `..` and doubled separators; `undefined` for anything else. */
export function canonicalPath(given: string): string | undefined {
  if (given.includes('\0') || !path.isAbsolute(given)) return undefined
  return path.resolve(given)
}

/** Whether `inner` is `outer` or below it, compared by whole components. Both are canonical. */
export function contains(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner)
  if (relative === '') return true
  return !path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..'
}
