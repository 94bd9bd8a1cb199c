import { createReadStream } from 'node:fs'
import { DAMAGED, type LeftBehind } from './left-behind.ts'
import { isRecord, type Loose } from './loose.ts'
import { inflated } from './zstd-file.ts'

/** A line above this is nothing that any of these programs writes. */
const MAX_LINE_BYTES = 256 * 1024 * 1024

export interface Line {
  /** From 1. */
  readonly number: number
  /** JSON. */
  readonly text: string
}

export interface Recorded {
  readonly number: number
  readonly value: Loose
}

/** The lines of a file, zstd or not, of which only one is held at a time. Empty ones are left out. */
export async function* linesOf(path: string, left: LeftBehind): AsyncGenerator<Line> {
  let number = 0
  for await (const bytes of splitLines(chunksOf(path, left))) {
    number += 1
    if (bytes === undefined) left.add(DAMAGED, `line ${number} is too long`)
    else if (bytes.length > 0) yield { number, text: bytes.toString() }
  }
}

/** The lines that are JSON objects; any other is told and passed over. */
export async function* recordsOf(path: string, left: LeftBehind): AsyncGenerator<Recorded> {
  for await (const { number, text } of linesOf(path, left)) {
    const value = parsed(text)
    if (isRecord(value)) yield { number, value }
    else if (text.trim() !== '') left.add(DAMAGED, `line ${number}: ${text}`)
  }
}

/** The first `count` of them, for telling what a file is. */
export async function firstRecords(path: string, count: number, left: LeftBehind) {
  const found: Loose[] = []
  for await (const { value } of recordsOf(path, left)) {
    found.push(value)
    if (found.length === count) break
  }
  return found
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Whoever asked says what stands there instead.
    return undefined
  }
}

function chunksOf(path: string, left: LeftBehind): AsyncIterable<Buffer> {
  if (!/\.zstd?$/.test(path)) return createReadStream(path, { highWaterMark: 1024 * 1024 })
  return inflated(path, (reason) => left.add(DAMAGED, reason))
}

/** `undefined` for a line that is too long. Splits at line feeds alone: JSON may hold the others. */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  let waiting: Buffer[] = []
  let size = 0
  const take = () => {
    const line = size > MAX_LINE_BYTES ? undefined : Buffer.concat(waiting)
    waiting = []
    size = 0
    return line
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      waiting.push(chunk.subarray(from, end))
      size += end - from
      from = end + 1
      yield take()
    }
    size += chunk.length - from
    if (size <= MAX_LINE_BYTES) waiting.push(chunk.subarray(from))
    else waiting = []
  }
  if (size > 0) yield take()
}
