import { deepFreeze } from '../session/index.ts'

/**
 * What parts of a request became on the wire. A request begins like the one before it: what was
 * made once is the same object again, frozen, so that nobody has to make or write it anew.
 */
export class WireCache<Wire extends object> {
  readonly #kept = new WeakMap<object, { readonly key: string; readonly wire: Wire }>()

  /** `key` holds everything besides `of` that the wire form depends on. */
  async get(of: object, key: string, make: () => Wire | Promise<Wire>): Promise<Wire> {
    return this.find(of, key) ?? this.keep(of, key, await make())
  }

  find(of: object, key: string): Wire | undefined {
    const kept = this.#kept.get(of)
    return kept?.key === key ? kept.wire : undefined
  }

  keep(of: object, key: string, wire: Wire): Wire {
    const frozen = deepFreeze(wire)
    this.#kept.set(of, { key, wire: frozen })
    return frozen
  }
}
