import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Alias, Document, Node, Pair, Scalar as YamlScalar, YAMLMap, YAMLSeq } from 'yaml'
import type { Located, LocatedList, LocatedMap, Scalar } from './located.ts'
import { problem } from './problem.ts'
import type { Origin, Problem } from './problem.ts'
import { Reference } from './reference.ts'

const MAX_DEPTH = 64
// Aliases are expanded, so this bounds what a few nested anchors can grow to.
const MAX_NODES = 20_000
const FORBIDDEN_KEYS = new Set(['__proto__', '<<'])

/** Turns a parsed YAML document into located values, refusing what YAML would silently bend. */
export class TreeReader {
  readonly #document: Document
  readonly #at: (offset: number) => Origin
  readonly #problems: Problem[] = []
  readonly #open = new Set<Node>()
  #nodes = 0

  constructor(document: Document, at: (offset: number) => Origin) {
    this.#document = document
    this.#at = at
  }

  readTop(): { entries: readonly Located[]; problems: Problem[] } {
    const top = this.#document.contents
    // An empty file and one of comments only are layers without operations.
    if (top === null || (isScalar(top) && top.value === null && (top.source ?? '') === '')) {
      return { entries: [], problems: [] }
    }
    if (!isSeq(top)) {
      const hint = 'Start each operation with "- ", for example "- insert: [...]".'
      this.#fail(this.#origin(top), 'A layer is a list of operations.', hint)
      return { entries: [], problems: this.#problems }
    }
    const { items } = this.#list(top, this.#origin(top), 0)
    return { entries: items, problems: this.#problems }
  }

  readWhole(): { entries: readonly Located[]; problems: Problem[] } {
    const top = this.#document.contents
    const entry = this.#read(top, top === null ? this.#at(0) : this.#origin(top), 0)
    return { entries: [entry], problems: this.#problems }
  }

  #fail(origin: Origin, message: string, hint?: string): void {
    this.#problems.push(problem('YAML_INVALID', origin, message, { hint }))
  }

  #origin(node: Node): Origin {
    return this.#at(node.range?.[0] ?? 0)
  }

  #read(node: unknown, origin: Origin, depth: number): Located {
    if (depth > MAX_DEPTH) throw new RangeError(`it is nested more than ${MAX_DEPTH} levels deep`)
    if (++this.#nodes > MAX_NODES) {
      throw new RangeError(`it holds more than ${MAX_NODES} values, aliases expanded`)
    }
    if (isAlias(node)) return this.#alias(node, origin, depth)
    if (isMap(node)) return this.#map(node, origin, depth)
    if (isSeq(node)) return this.#list(node, origin, depth)
    return { type: 'scalar', value: isScalar(node) ? this.#scalar(node, origin) : null, origin }
  }

  #alias(alias: Alias, origin: Origin, depth: number): Located {
    const target = alias.resolve(this.#document)
    if (target === undefined || this.#open.has(target)) {
      const hint = 'Put the value in quotes if it starts with "*" on purpose.'
      this.#fail(origin, `The alias *${alias.source} has no anchor to stand for.`, hint)
      return { type: 'scalar', value: null, origin }
    }
    this.#open.add(target)
    const value = this.#read(target, origin, depth + 1)
    this.#open.delete(target)
    return value
  }

  #list(list: YAMLSeq, origin: Origin, depth: number): LocatedList {
    const items = list.items.map((item) => {
      const place = this.#origin(item as Node)
      if (list.flow === true) this.#checkFlowScalar(item, place)
      return this.#read(item, place, depth + 1)
    })
    return { type: 'list', items, origin }
  }

  #map(map: YAMLMap, origin: Origin, depth: number): LocatedMap {
    const entries = new Map<string, Located>()
    for (const pair of map.items) {
      // The key's line is the one that a person looks for, wherever the value begins.
      const place = isScalar(pair.key) ? this.#origin(pair.key) : origin
      const key = this.#key(pair, place)
      if (key === undefined) continue
      if (map.flow === true) this.#checkFlowPair(pair, key, place)
      entries.set(key, this.#read(pair.value, place, depth + 1))
    }
    return { type: 'map', entries, origin }
  }

  #key(pair: Pair, origin: Origin): string | undefined {
    const value = isScalar(pair.key) ? pair.key.value : undefined
    const key = typeof value === 'number' ? (pair.key as YamlScalar).source : value
    if (typeof key !== 'string') {
      this.#fail(origin, 'A key is not a string.', 'Put the key in quotes.')
    } else if (FORBIDDEN_KEYS.has(key)) {
      this.#fail(origin, `The key "${key}" is not allowed.`, 'Write the members out.')
    } else return key
  }

  // `{ k: !env N ?? a,b }` is two keys to YAML, `k` and a `b` without a value.
  #checkFlowPair(pair: Pair, key: string, origin: Origin): void {
    this.#checkFlowScalar(pair.value, origin)
    if (pair.value !== null) return
    const hint = 'Write "key: value", and put values that contain a comma in quotes.'
    this.#fail(origin, `The key "${key}" has no value.`, hint)
  }

  #checkFlowScalar(node: unknown, origin: Origin): void {
    if (!isScalar(node) || node.type !== 'PLAIN') return
    const { value } = node
    if (!(value instanceof Reference) || value.tag !== '!env') return
    if (value.fallback === undefined) return
    const hint = `Write !env "${value.text}": a comma ends an unquoted value here.`
    this.#fail(origin, 'An !env with a default needs quotes inside of { } and [ ].', hint)
  }

  #scalar({ value, source }: YamlScalar, origin: Origin): Scalar {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const message = `The number ${source ?? value} loses digits.`
      this.#fail(origin, message, 'Put it in quotes.')
    }
    if (value === null || value instanceof Reference) return value
    if (typeof value === 'string' || typeof value === 'number') return value
    return typeof value === 'boolean' ? value : null
  }
}
