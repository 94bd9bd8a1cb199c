import type { Target } from '@cordage/core/environment'
import { WindowCollector, type TextWindow, type WindowLimits } from './window.ts'

const CHUNK_BYTES = 1024 * 1024
/** How far beyond the window lines are counted, so that a huge file costs no minutes. */
const MAX_COUNT_BYTES = 64 * 1024 * 1024
const NEWLINE = 0x0a

export interface StreamedWindow extends TextWindow {
  /** All lines of the file, where counting them did not take too long. */
  readonly totalLines?: number
  /** Lines that were counted. */
  readonly atLeast: number
  readonly version: string
}

/** Finds the window in a UTF-8 file of any size, holding no more than a chunk in memory. */
export async function streamWindow(
  target: Target,
  size: number,
  limits: WindowLimits,
): Promise<StreamedWindow> {
  const lines = new LineScanner(limits)
  let start = 0
  let stop = size
  let version: string | undefined
  while (start < stop) {
    const read = await target.read({ start, end: Math.min(start + CHUNK_BYTES, size) })
    version ??= read.version
    if (read.bytes.length === 0) break
    lines.push(Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.byteLength))
    start += read.bytes.length
    if (lines.full && stop === size) stop = Math.min(size, start + MAX_COUNT_BYTES)
  }
  const total = lines.end()
  return {
    ...lines.result(),
    ...(start >= size ? { totalLines: total } : {}),
    atLeast: total,
    version: version ?? '',
  }
}

class LineScanner {
  readonly #window: WindowCollector
  readonly #maxBytes: number
  #line = 1
  #parts: Buffer[] = []
  #kept = 0
  #length = 0

  constructor(limits: WindowLimits) {
    this.#window = new WindowCollector(limits)
    this.#maxBytes = limits.maxLineChars * 4
  }

  get full(): boolean {
    return this.#window.full
  }

  push(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#extend(chunk.subarray(from, at))
      this.#finish()
      from = at + 1
    }
    this.#extend(chunk.subarray(from))
  }

  /** The number of lines. */
  end(): number {
    if (this.#length > 0) this.#finish()
    return this.#line - 1
  }

  result(): TextWindow {
    return this.#window.result()
  }

  #extend(bytes: Buffer): void {
    this.#length += bytes.length
    if (!this.#window.wants(this.#line) || this.#kept >= this.#maxBytes) return
    // A copy, because the chunk is not kept.
    const part = Buffer.from(bytes.subarray(0, this.#maxBytes - this.#kept))
    this.#parts.push(part)
    this.#kept += part.length
  }

  #finish(): void {
    if (this.#window.wants(this.#line)) {
      const text = Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, '')
      this.#window.add(this.#line, text, this.#length > this.#kept)
    }
    this.#line += 1
    this.#parts = []
    this.#kept = 0
    this.#length = 0
  }
}
