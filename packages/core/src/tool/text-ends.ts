/**
 * The two ends of valid UTF-8, of whole characters, that take about `room` bytes together, and how
 * many are between them.
 */
export function textEnds(bytes: Buffer, room: number, headShare = 3 / 4) {
  const headEnd = characterAt(bytes, Math.floor(room * headShare))
  const tailStart = Math.max(headEnd, characterAt(bytes, bytes.length - (room - headEnd)))
  return {
    head: bytes.toString('utf8', 0, headEnd),
    tail: bytes.toString('utf8', tailStart),
    leftOut: tailStart - headEnd,
  }
}

/** Where the character of valid UTF-8 begins that byte `at` belongs to. */
export function characterAt(bytes: Uint8Array, at: number): number {
  let start = Math.max(0, Math.min(at, bytes.length))
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1
  return start
}
