const MAX_COMPARISONS = 2_000_000
const MAX_SHOWN = 45

/** Where a text that was not found nearly is, and the first line in which it differs. */
export function describeClosest(text: string, wanted: string): string {
  if (/^\s*\d+\t/.test(wanted))
    return 'it seems to hold line numbers, which are not part of the file'
  const lines = text.split('\n')
  const parts = trimBlank(wanted.split('\n'))
  if (parts.length === 0) return 'it is only blank lines'
  const at = bestStart(lines, parts) ?? mostSimilar(lines, parts[0] ?? '')
  if (at === undefined) return 'no line is like it; read the file again'
  return describeDifference(lines, parts, at)
}

function trimBlank(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== '')
  const last = lines.findLastIndex((line) => line.trim() !== '')
  return first < 0 ? [] : lines.slice(first, last + 1)
}

/** The start at which most lines agree but for white space; undefined when none does. */
function bestStart(lines: readonly string[], parts: readonly string[]): number | undefined {
  if (lines.length * parts.length > MAX_COMPARISONS) return undefined
  const have = lines.map((line) => line.trim())
  const want = parts.map((line) => line.trim())
  let best: number | undefined
  let bestScore = 0
  for (let start = 0; start < have.length; start += 1) {
    const agreeing = want.filter((line, index) => line !== '' && have[start + index] === line)
    if (agreeing.length > bestScore) {
      best = start
      bestScore = agreeing.length
    }
  }
  return best
}

/** The line that shares most words with `wanted`, at least half of them. */
function mostSimilar(lines: readonly string[], wanted: string): number | undefined {
  const words = wordsOf(wanted)
  let best: number | undefined
  let bestScore = 0.5
  for (const [index, line] of lines.entries()) {
    const other = wordsOf(line)
    const common = [...words].filter((word) => other.has(word)).length
    const score = (2 * common) / (words.size + other.size)
    if (score >= bestScore && score > 0) {
      best = index
      bestScore = score + Number.EPSILON
    }
  }
  return best
}

function wordsOf(line: string): Set<string> {
  return new Set(line.slice(0, 500).match(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [])
}

function describeDifference(lines: readonly string[], parts: readonly string[], at: number) {
  const offset = parts.findIndex((part, index) => lines[at + index] !== part)
  // Each line is there as it is, so only what surrounded them differs.
  if (offset < 0) return `its lines are at line ${at + 1}, but not what comes before or after them`
  const have = lines[at + offset]
  const want = parts[offset] ?? ''
  if (have === undefined)
    return `from line ${at + 1} on it matches, but the file ends before it does`
  const kind =
    have.replace(/\s/g, '') === want.replace(/\s/g, '') ? 'white space differs' : 'the text differs'
  return `closest at line ${at + offset + 1}, ${kind}: file ${quote(have)}, old_string ${quote(want)}`
}

function quote(line: string): string {
  const shown = line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
  return JSON.stringify(shown)
}
