/** What to show of a text: `offset` is the first line, from 1. */
export interface WindowLimits {
  readonly offset: number
  readonly limit: number
  readonly maxLineChars: number
  /** For all lines together, with their numbers. */
  readonly maxChars: number
}

export interface TextWindow {
  readonly lines: readonly string[]
  /** Numbers of the lines of which only the beginning is in `lines`. */
  readonly cutLines: readonly number[]
}

/** Collects the lines of one window while all lines of a text go by. */
export class WindowCollector {
  readonly #limits: WindowLimits
  readonly #lines: string[] = []
  readonly #cut: number[] = []
  #chars = 0
  #full = false

  constructor(limits: WindowLimits) {
    this.#limits = limits
  }

  /** Nothing that follows will be shown. */
  get full(): boolean {
    return this.#full || this.#lines.length >= this.#limits.limit
  }

  wants(line: number): boolean {
    return line >= this.#limits.offset && !this.full
  }

  /** Lines come in order; `text` may be cut already when `longer` says so. */
  add(line: number, text: string, longer = false): void {
    if (!this.wants(line)) return
    const { maxLineChars, maxChars } = this.#limits
    const cut = longer || text.length > maxLineChars
    const shown = cut ? text.slice(0, maxLineChars).toWellFormed() : text
    const chars = shown.length + String(line).length + 2
    // The first line always goes in, so that a window is never empty.
    if (this.#lines.length > 0 && this.#chars + chars > maxChars) {
      this.#full = true
      return
    }
    this.#chars += chars
    this.#lines.push(shown)
    if (cut) this.#cut.push(line)
  }

  result(): TextWindow {
    return { lines: this.#lines, cutLines: this.#cut }
  }
}

/** Lines as an editor counts them: a newline at the end starts no further line. */
export function splitLines(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
