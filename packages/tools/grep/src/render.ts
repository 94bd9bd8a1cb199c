import { escapeFileName } from '@cordage/core/tool'
import type { FileCount, FoundFile, FoundLine } from './page.ts'

interface Found {
  readonly offset: number
  /** All matching lines, on whichever page. */
  readonly matches: number
  /** Why something may be missing: an unreadable entry, a limit. */
  readonly incomplete: readonly string[]
  /** All entries, of which this is one page. */
  readonly total: number
}

export type GrepValue =
  | (Found & {
      readonly mode: 'content'
      readonly found: readonly FoundFile[]
      readonly shown: number
    })
  | (Found & {
      readonly mode: 'files_with_matches' | 'count'
      readonly files: readonly FileCount[]
    })

/** What is missing is said first, where no line of a file can be taken for it. */
export function renderFound(value: GrepValue): string {
  const content = value.mode === 'content'
  const shown = content ? value.shown : value.files.length
  const body = content
    ? value.found.map(renderFile)
    : value.files.map((file) => renderCount(file, value.mode === 'count'))
  const gaps = value.incomplete.map((reason) => `Incomplete: ${reason}`)
  return [renderTitle(value, shown, content ? 'lines' : 'files'), ...gaps, ...body].join('\n')
}

function renderTitle({ matches, total, offset }: GrepValue, shown: number, unit: string): string {
  if (matches === 0) return 'No matches'
  if (shown === 0) return `No ${unit} at offset ${offset}; there are ${total}`
  const next = offset + shown
  const page = shown < total ? `; ${unit} ${offset + 1}-${next} of ${total}` : ''
  const more = next < total ? `, go on with offset ${next}` : ''
  return `${matches} matching ${matches === 1 ? 'line' : 'lines'}${page}${more}`
}

function renderFile({ path, lines }: FoundFile): string {
  const rows = lines.map((row, index) => {
    const before = lines[index - 1]
    const gap = before && before.line + 1 < row.line && hasContext(lines) ? '--\n' : ''
    return `${gap}${row.line}${row.match ? ':' : '-'}${oneLine(row.text)}`
  })
  return [escapeFileName(path), ...rows].join('\n')
}

function hasContext(lines: readonly FoundLine[]): boolean {
  return lines.some((line) => !line.match)
}

/** Keeps a line from passing for several. */
function oneLine(text: string): string {
  return text.replace(/\r?\n$/, '').replace(/[\r\n]/g, ' ')
}

function renderCount({ path, count }: FileCount, counted: boolean): string {
  return counted ? `${count}\t${escapeFileName(path)}` : escapeFileName(path)
}
