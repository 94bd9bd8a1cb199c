/** Up to three of `known` that `word` may have meant, nearest first. */
export function nearest(word: string, known: Iterable<string>): string[] {
  const limit = Math.max(2, Math.floor(word.length / 3))
  return [...new Set(known)]
    .map((name) => ({ name, far: isPart(word, name) ? 1 : distance(word, name) }))
    .filter(({ name, far }) => far <= limit && far < Math.max(word.length, name.length))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name)
}

/** The sentence for a hint, or undefined when nothing is near. */
export function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const found = nearest(word, known)
  return found.length === 0 ? undefined : `Did you mean ${found.join(', ')}?`
}

/** People leave a part out or add one: `bash` for `tool-bash`, `path` for `file_path`. */
function isPart(word: string, name: string): boolean {
  const [short = '', long = ''] = [word, name].sort((a, b) => a.length - b.length)
  if (short.length < 3) return false
  return ['-', '_'].some((mark) => long.endsWith(mark + short) || long.startsWith(short + mark))
}

/** Edits without regard to case, a swap of neighbours counting as one; long words are far. */
function distance(from: string, to: string): number {
  if (Math.max(from.length, to.length) > 64) return Infinity
  const a = from.toLowerCase()
  const b = to.toLowerCase()
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) least = Math.min(least, before[j - 2]! + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return last[b.length]!
}
