import { escapeControls, escapeInJson } from '@cordage/core/error'

/**
 * Rows as columns, left-aligned, two spaces apart; nothing is padded after the last one. What is in
 * them may be a stranger's.
 */
export function tableText(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map((cell) => harmless(cell).replaceAll('\n', ' ')))
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)))
  }
  const lines = rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  return lines.map((line) => `${line}\n`).join('')
}

/** What a log or a model wrote, on one line of at most `max` characters, unable to drive a terminal. */
export function oneLine(text: string, max: number): string {
  const line = harmless(text).replaceAll(/\s+/g, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}

/** Characters that could drive a terminal as `\x..`, line ends and tabs kept. */
export function harmless(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, escapeControls)
}

/** Bytes in the largest unit that they fill. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const kb = bytes / 1024
  return kb < 1024 ? `${kb.toFixed(1)} KB` : `${(kb / 1024).toFixed(1)} MB`
}

export function jsonText(value: unknown): string {
  return `${jsonLine(value, 2)}\n`
}

/** JSON without an end of line, which says what it says and cannot drive a terminal. */
export function jsonLine(value: unknown, indent = 0): string {
  return escapeInJson(JSON.stringify(value, null, indent))
}
