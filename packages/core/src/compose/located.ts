import { Reference } from './reference.ts'
import type { Origin } from './problem.ts'

export type Scalar = string | number | boolean | null | Reference

/** A YAML value in which every node knows the layer and the line that set it. */
export type Located = LocatedMap | LocatedList | LocatedScalar

export interface LocatedMap {
  type: 'map'
  entries: ReadonlyMap<string, Located>
  origin: Origin
}

export interface LocatedList {
  type: 'list'
  items: readonly Located[]
  origin: Origin
}

export interface LocatedScalar {
  type: 'scalar'
  value: Scalar
  origin: Origin
}

export type Path = readonly (string | number)[]

const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/

/** `['models', 0, 'gpt-5.5']` as `models[0]["gpt-5.5"]`: different paths have different texts. */
export function pathText(path: Path): string {
  let text = ''
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`
    else if (!PLAIN_KEY.test(key)) text += `[${JSON.stringify(key)}]`
    else text += text === '' ? key : `.${key}`
  }
  return text
}

/** The plain value of a node; `scalar` decides what stands for each scalar. */
export function plain(node: Located, scalar: (node: LocatedScalar) => unknown): unknown {
  if (node.type === 'scalar') return scalar(node)
  if (node.type === 'list') return node.items.map((item) => plain(item, scalar))
  const value: Record<string, unknown> = {}
  for (const [key, entry] of node.entries) value[key] = plain(entry, scalar)
  return value
}

/** Calls `visit` for the node and everything below it. */
export function walk(node: Located, path: Path, visit: (path: Path, node: Located) => void): void {
  visit(path, node)
  if (node.type === 'map')
    for (const [key, entry] of node.entries) walk(entry, [...path, key], visit)
  if (node.type === 'list') node.items.forEach((item, i) => walk(item, [...path, i], visit))
}

/** A word for a node in a message. */
export function kindOf(node: Located): string {
  if (node.type !== 'scalar') return node.type === 'map' ? 'a mapping' : 'a list'
  if (node.value === null) return 'nothing'
  if (node.value instanceof Reference) return 'a reference'
  return `the ${typeof node.value} ${JSON.stringify(node.value)}`
}

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
