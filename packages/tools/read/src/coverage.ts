const MAX_FILES = 1_000

/**
 * Remembers how far each file was read from its start, so that a file read window by window
 * counts as read whole after the last one.
 */
export class Coverage {
  readonly #files = new Map<string, { version: string; upTo: number }>()

  /** The last line up to which nothing is missing, with `first` to `last` now seen as well. */
  extend(key: string, version: string, first: number, last: number): number {
    const known = this.#files.get(key)
    const before = known?.version === version ? known.upTo : 0
    const upTo = first <= before + 1 ? Math.max(before, last) : before
    this.#files.delete(key)
    this.#files.set(key, { version, upTo })
    const oldest = this.#files.keys().next()
    if (this.#files.size > MAX_FILES && !oldest.done) this.#files.delete(oldest.value)
    return upTo
  }
}
