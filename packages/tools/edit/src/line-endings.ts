/** A text with every `\r\n` as `\n`, and the way back to the offsets of the original. */
export interface UnifiedText {
  readonly text: string
  /** The offset in the original of an offset in `text`. */
  toOriginal(offset: number): number
  /** The line ending in use at an offset of `text`. */
  endingAt(offset: number): '\n' | '\r\n'
}

export function unifyLineEndings(original: string): UnifiedText {
  const text = original.replaceAll('\r\n', '\n')
  const removed: number[] = []
  for (let at = original.indexOf('\r\n'); at >= 0; at = original.indexOf('\r\n', at + 2)) {
    removed.push(at - removed.length)
  }
  return {
    text,
    toOriginal: (offset) => offset + countBelow(removed, offset),
    endingAt: (offset) => {
      const next = text.indexOf('\n', offset)
      const newline = next >= 0 ? next : text.lastIndexOf('\n')
      return removed[countBelow(removed, newline)] === newline ? '\r\n' : '\n'
    },
  }
}

/** How many of the ascending `values` are less than `limit`. */
function countBelow(values: readonly number[], limit: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((values[middle] as number) < limit) low = middle + 1
    else high = middle
  }
  return low
}
