/** Up to three of `known` that `word` may have meant, nearest first. */
export function nearest(word: string, known: Iterable<string>): string[] {
  const limit = Math.max(2, Math.floor(word.length / 3))
  return [...new Set(known)]
    .map((id) => ({ id, far: part(word, id) ? 1 : distance(word, id) }))
    .filter(({ id, far }) => far <= limit && far < Math.max(word.length, id.length))
    .sort((a, b) => a.far - b.far || (a.id < b.id ? -1 : 1))
    .slice(0, 3)
    .map(({ id }) => id)
}

/** The sentence for a hint, or undefined when nothing is near. */
export function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const found = nearest(word, known)
  return found.length === 0 ? undefined : `Did you mean ${found.join(', ')}?`
}

// People leave the group's prefix out: `bash` for `tool-bash`.
function part(word: string, id: string): boolean {
  return word.length > 2 && (id.endsWith(`-${word}`) || id.startsWith(`${word}-`))
}

// Edits between two words, a swap of neighbours counting as one.
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, before[j - 2]! + 1)
      }
      row.push(least)
    }
    before = last
    last = row
  }
  return last[b.length]!
}
