import type { StructuredPatchHunk } from 'diff'

const MAX_DIFF_CHARS = 20_000
const MAX_EXCERPT_LINES = 60
const MAX_LINE_CHARS = 500
const MAX_DIFF_MS = 250

/** What a change did to one text. */
export interface TextChange {
  readonly added: number
  readonly removed: number
  /** Hunks of a unified diff for people, without file names; cut when long. */
  readonly diff: string
  /** The changed regions as they are now, as `number<tab>text`; cut when long. */
  readonly excerpt: string
}

export async function describeChange(before: string, after: string): Promise<TextChange> {
  const { structuredPatch } = await import('diff')
  const options = { context: 2, timeout: MAX_DIFF_MS }
  const patch = structuredPatch('', '', before, after, undefined, undefined, options)
  // Two long texts with little in common: not worth the time it takes to compare them.
  if (!patch)
    return { added: countLines(after), removed: countLines(before), diff: '', excerpt: '' }
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
    diff: cut(patch.hunks.map(printHunk).join('\n'), MAX_DIFF_CHARS),
    excerpt: printExcerpt(patch.hunks),
  }
}

function printHunk({ oldStart, oldLines, newStart, newLines, lines }: StructuredPatchHunk): string {
  const range = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`
  return [range, ...lines.map((line) => cut(line, MAX_LINE_CHARS))].join('\n')
}

function printExcerpt(hunks: readonly StructuredPatchHunk[]): string {
  const blocks: string[] = []
  let room = MAX_EXCERPT_LINES
  for (const hunk of hunks) {
    const lines = hunk.lines.filter((line) => line[0] === ' ' || line[0] === '+')
    const numbered = lines.slice(0, room).map((line, index) => {
      return `${hunk.newStart + index}\t${cut(line.slice(1), MAX_LINE_CHARS)}`
    })
    if (numbered.length > 0) blocks.push(numbered.join('\n'))
    if (lines.length > room) blocks.push('')
    room = Math.max(0, room - lines.length)
  }
  return blocks.join('\n…\n')
}

function countLines(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}
