/** Whether `word` is `name` with one letter missing, added, wrong, or swapped with its neighbour. */
export function isTypo(word: string, name: string): boolean {
  if (word === name || Math.abs(word.length - name.length) > 1) return false
  let start = 0
  while (start < word.length && word[start] === name[start]) start += 1
  let end = 0
  const room = Math.min(word.length, name.length) - start
  while (end < room && word.at(-1 - end) === name.at(-1 - end)) end += 1
  const [a, b] = [word.slice(start, word.length - end), name.slice(start, name.length - end)]
  return Math.max(a.length, b.length) <= 1 || (a.length === 2 && a[0] === b[1] && a[1] === b[0])
}
