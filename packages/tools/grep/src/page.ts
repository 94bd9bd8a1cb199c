import type { GrepLine } from '@cordage/core/environment'
import { relative, sep } from 'node:path'

export interface FoundLine {
  readonly line: number
  readonly text: string
  /** False for a line of context. */
  readonly match: boolean
}

export interface FoundFile {
  /** Relative to the current directory where it is below it. */
  readonly path: string
  readonly lines: readonly FoundLine[]
}

export interface PageLimits {
  readonly offset: number
  readonly limit: number
  readonly maxChars: number
  readonly cwd: string
}

/** One page of lines, by file; `total` counts all of them, context included. */
export function pageOf(
  items: readonly GrepLine[],
  { offset, limit, maxChars, cwd }: PageLimits,
): { found: FoundFile[]; total: number; shown: number } {
  const found: { path: string; lines: FoundLine[] }[] = []
  let room = maxChars
  let shown = 0
  let path: string | undefined
  for (const item of items.slice(offset, offset + limit)) {
    const next = path !== item.path
    room -= item.text.length + 10 + (next ? item.path.length : 0)
    if (room < 0 && shown > 0) break
    if (next) found.push({ path: shorten(item.path, cwd), lines: [] })
    path = item.path
    const { line, text, match } = item
    found.at(-1)?.lines.push({ line, text, match })
    shown += 1
  }
  return { found, total: items.length, shown }
}

export interface FileCount {
  readonly path: string
  readonly count: number
}

/** Matching lines of each file, in the order of the search. */
export function countByFile(items: readonly GrepLine[], cwd: string): FileCount[] {
  const counts = new Map<string, number>()
  for (const { path, match } of items) {
    if (match) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  return [...counts].map(([path, count]) => ({ path: shorten(path, cwd), count }))
}

function shorten(path: string, cwd: string): string {
  const short = relative(cwd, path)
  return short === '' || short === '..' || short.startsWith(`..${sep}`) ? path : short
}
