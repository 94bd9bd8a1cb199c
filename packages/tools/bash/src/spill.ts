/** Keeps the first `maxBytes` of an output, for the blob that holds what the model is not shown. */
export class Spill {
  readonly #maxBytes: number
  readonly #chunks: Uint8Array[] = []
  #kept = 0
  #total = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get total(): number {
    return this.#total
  }

  get complete(): boolean {
    return this.#kept === this.#total
  }

  push(bytes: Uint8Array): void {
    this.#total += bytes.length
    const part = bytes.subarray(0, this.#maxBytes - this.#kept)
    if (part.length === 0) return
    // A copy: the view may be a small part of a large buffer that would be kept alive.
    this.#chunks.push(part.slice())
    this.#kept += part.length
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks)
  }
}
