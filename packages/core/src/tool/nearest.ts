/** Up to three of `known` that `word` may have meant, nearest first. */
export function nearestNames(word: string, known: Iterable<string>): string[] {
  const limit = Math.max(2, Math.floor(word.length / 3))
  return [...new Set(known)]
    .map((name) => ({ name, far: isPart(word, name) ? 1 : distance(word, name) }))
    .filter(({ name, far }) => far <= limit && far < Math.max(word.length, name.length))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name)
}

/** `path` for `file_path`, and the other way round. */
function isPart(word: string, name: string): boolean {
  const [short = '', long = ''] = [word, name].sort((a, b) => a.length - b.length)
  return short.length > 2 && (long.endsWith(`_${short}`) || long.startsWith(`${short}_`))
}

/** Levenshtein, without regard to case; long words are not worth the time. */
function distance(from: string, to: string): number {
  if (Math.max(from.length, to.length) > 64) return Infinity
  const a = from.toLowerCase()
  const b = to.toLowerCase()
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
