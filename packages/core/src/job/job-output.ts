import type { JobText } from './job.ts'

/** The last characters of a text that grows, at their places in the whole of it. */
export class JobOutput {
  readonly #maxChars: number
  #kept = ''
  #start = 0

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  push(text: string): void {
    this.#kept += text
    // Seldom, as each cut copies what stays.
    if (this.#kept.length > 2 * this.#maxChars) this.trim()
  }

  /** Lets go of all but the last `maxChars`. */
  trim(): void {
    const cut = Math.max(0, this.#kept.length - this.#maxChars)
    this.#kept = this.#kept.slice(cut)
    this.#start += cut
  }

  read(cursor: number, maxChars: number): JobText {
    const end = this.#start + this.#kept.length
    const from = Math.min(Math.max(cursor, this.#start), end)
    const page = this.#kept.slice(from - this.#start, from - this.#start + maxChars)
    // The other half of a last character comes with the next page.
    const text = /[\ud800-\udbff]$/.test(page) ? page.slice(0, -1) : page
    const next = from + text.length
    return { text, next, dropped: Math.max(0, from - cursor), left: end - next }
  }
}
