import type { Hunk } from './patch.ts'
import { findAnchor, findLines } from './seek.ts'

interface FileLine {
  readonly text: string
  readonly ending: string
}

export type Applied =
  | { readonly text: string }
  /** `hunk` counts from 1. */
  | { readonly hunk: number; readonly reason: string }

/**
 * Applies hunks in order. Lines match exactly, else without trailing, else without surrounding
 * white space; context keeps the file's own text, and new lines get the file's line endings.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  const lines = splitLines(text)
  const have = lines.map((line) => line.text)
  const result: FileLine[] = []
  let done = 0
  let drift = 0
  for (const [index, hunk] of hunks.entries()) {
    const place = locate(have, hunk, done, drift)
    if (typeof place === 'string') return { hunk: index + 1, reason: place }
    result.push(...lines.slice(done, place.at), ...replaceLines(lines, place))
    done = place.at + place.wanted.length
    if (hunk.line !== undefined) drift = place.at + 1 - hunk.line
  }
  result.push(...lines.slice(done))
  return { text: joinLines(result, lines, hunks.at(-1)?.finalNewline) }
}

interface Place {
  readonly at: number
  readonly wanted: readonly string[]
  readonly hunk: Hunk
}

/** Where a hunk goes, or why it does not fit. */
function locate(have: readonly string[], hunk: Hunk, from: number, drift: number): Place | string {
  let start = from
  for (const anchor of hunk.anchors) {
    const at = findAnchor(have, anchor, start)
    if (at < 0) return `no line ${JSON.stringify(anchor)} after line ${start}`
    start = at + 1
  }
  const wanted = hunk.lines.filter(({ op }) => op !== '+').map((line) => line.text)
  if (wanted.length === 0) return { at: insertionPoint(have, hunk, start, drift), wanted, hunk }
  const near = hunk.line === undefined ? undefined : hunk.line - 1 + drift
  const at = findLines(have, wanted, { from: start, near, atEnd: hunk.atEnd })
  if (at >= 0) return { at, wanted, hunk }
  return `no lines like ${JSON.stringify(wanted[firstMissing(have, wanted, start)] ?? '')}`
}

/** An insertion without context goes below its anchor, to its line, or to the end. */
function insertionPoint(have: readonly string[], hunk: Hunk, start: number, drift: number): number {
  if (hunk.anchors.length > 0 && !hunk.atEnd) return start
  if (hunk.line === undefined) return have.length
  return Math.min(Math.max(hunk.line - 1 + drift, start), have.length)
}

/** The first wanted line that is nowhere in the file; else the first. */
function firstMissing(have: readonly string[], wanted: readonly string[], start: number): number {
  const known = new Set(have.slice(start).map((line) => line.trim()))
  return Math.max(
    0,
    wanted.findIndex((line) => !known.has(line.trim())),
  )
}

function replaceLines(lines: readonly FileLine[], { at, hunk }: Place): FileLine[] {
  const ending = lines[at]?.ending || lines[at - 1]?.ending || lines[0]?.ending || '\n'
  let next = at
  const result: FileLine[] = []
  for (const { op, text } of hunk.lines) {
    if (op === '+') result.push({ text, ending })
    else {
      const line = lines[next]
      next += 1
      if (op === ' ' && line) result.push(line)
    }
  }
  return result
}

function splitLines(text: string): FileLine[] {
  const parts = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  return parts.map((part) => {
    const ending = part.endsWith('\r\n') ? '\r\n' : part.endsWith('\n') ? '\n' : ''
    return { text: part.slice(0, part.length - ending.length), ending }
  })
}

/** The last line of the file keeps whether it has a newline; every other line has one. */
function joinLines(
  result: readonly FileLine[],
  before: readonly FileLine[],
  finalNewline: boolean | undefined,
): string {
  const usual = before[0]?.ending || '\n'
  const final = finalNewline ?? before.at(-1)?.ending !== ''
  const last = result.length - 1
  return result
    .map(({ text, ending }, index) => text + (index < last || final ? ending || usual : ''))
    .join('')
}
