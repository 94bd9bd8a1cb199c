/** Keeps the first and the last characters of a text of any length, in bounded memory. */
export class HeadTail {
  readonly #maxHead: number
  readonly #maxTail: number
  #head = ''
  #tail = ''
  #omitted = 0

  constructor(maxHead: number, maxTail: number) {
    this.#maxHead = maxHead
    this.#maxTail = maxTail
  }

  push(text: string): void {
    const room = this.#maxHead - this.#head.length
    // Once something went to the tail, the head is closed, however much room it has.
    const split = this.#tail === '' && this.#omitted === 0 && room > 0 ? safeCut(text, room) : 0
    this.#head += text.slice(0, split)
    this.#tail += text.slice(split)
    if (this.#tail.length > 2 * this.#maxTail) this.#trim()
  }

  /** `omitted` counts the characters missing between `head` and `tail`. */
  result(): { head: string; tail: string; omitted: number } {
    if (this.#tail.length > this.#maxTail) this.#trim()
    return { head: this.#head, tail: this.#tail, omitted: this.#omitted }
  }

  #trim(): void {
    const cut = safeCut(this.#tail, this.#tail.length - this.#maxTail)
    this.#omitted += cut
    this.#tail = this.#tail.slice(cut)
  }
}

/** `at`, or one less where a surrogate pair would be split. */
function safeCut(text: string, at: number): number {
  const low = text.charCodeAt(at)
  return low >= 0xdc00 && low <= 0xdfff && at > 0 ? at - 1 : Math.min(at, text.length)
}
