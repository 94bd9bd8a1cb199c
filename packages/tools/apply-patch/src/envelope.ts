import { fail } from './errors.ts'
import type { FilePatch, Hunk, HunkLine } from './patch.ts'

const header = /^\*\*\* (Add|Update|Delete) File: (.+)$/

/**
 * The format that models are trained on:
 *
 *   *** Begin Patch
 *   *** Add File: a.txt          every line with +
 *   *** Delete File: b.txt
 *   *** Update File: c.txt
 *   *** Move to: d.txt           optional
 *   @@ class A                   optional, repeated from the outside in
 *    context
 *   -old
 *   +new
 *   *** End of File              optional
 *   *** End Patch
 */
export function parseEnvelope(text: string): FilePatch[] {
  const reader = new LineReader(text.trimEnd().split('\n'))
  reader.next()
  const files: FilePatch[] = []
  while (reader.peek() !== '*** End Patch') {
    const line = reader.next()
    if (line === undefined) throw reader.invalid('it ends without *** End Patch')
    if (line.trim() === '') continue
    files.push(parseFile(line, reader))
  }
  if (files.length === 0) throw reader.invalid('it names no file')
  return files
}

class LineReader {
  readonly #lines: readonly string[]
  #at = 0

  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  peek(): string | undefined {
    return this.#lines[this.#at]?.trimEnd()
  }

  next(): string | undefined {
    const line = this.#lines[this.#at]
    this.#at += 1
    return line
  }

  /** The error for the line that was read last. */
  invalid(reason: string) {
    return fail('PATCH_INVALID', { line: Math.max(1, this.#at), reason })
  }
}

function parseFile(line: string, reader: LineReader): FilePatch {
  const [, verb, name = ''] = header.exec(line.trimEnd()) ?? []
  const path = name.trim()
  if (verb === undefined || path === '') {
    throw reader.invalid('expected *** Add File:, *** Update File: or *** Delete File:')
  }
  if (verb === 'Delete') return { kind: 'delete', path }
  if (verb === 'Add') return { kind: 'add', path, text: parseAdded(reader) }
  const move = /^\*\*\* Move to: (.+)$/.exec(reader.peek() ?? '')?.[1]?.trim()
  if (move !== undefined) reader.next()
  const hunks = parseHunks(reader)
  if (hunks.length === 0 && move === undefined) throw reader.invalid(`nothing changes in ${path}`)
  return { kind: 'update', path, ...(move === undefined ? {} : { moveTo: move }), hunks }
}

function parseAdded(reader: LineReader): string {
  const lines: string[] = []
  while (!atNextFile(reader)) {
    const line = reader.next() ?? ''
    if (!line.startsWith('+')) throw reader.invalid('lines of an added file start with +')
    lines.push(line.slice(1))
  }
  return lines.map((line) => `${line}\n`).join('')
}

function parseHunks(reader: LineReader): Hunk[] {
  const hunks: Hunk[] = []
  while (!atNextFile(reader)) {
    const { anchors, line } = parseAnchors(reader)
    const lines = parseLines(reader)
    const atEnd = reader.peek() === '*** End of File'
    if (atEnd) reader.next()
    if (!lines.some(({ op }) => op !== ' ')) throw reader.invalid('a hunk changes nothing')
    hunks.push({ anchors, lines, atEnd, ...(line === undefined ? {} : { line }) })
  }
  return hunks
}

function parseAnchors(reader: LineReader): { anchors: string[]; line?: number } {
  const anchors: string[] = []
  let line: number | undefined
  while (reader.peek()?.startsWith('@@')) {
    const text = reader.next() ?? ''
    const [, start] = /^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@/.exec(text) ?? []
    if (start !== undefined) line = Number(start)
    // What follows a range is only a hint for people and may be cut.
    const anchor = start === undefined ? text.slice(2).trim() : ''
    if (anchor !== '') anchors.push(anchor)
  }
  return { anchors, ...(line === undefined ? {} : { line }) }
}

function parseLines(reader: LineReader): HunkLine[] {
  const lines: HunkLine[] = []
  while (!atNextFile(reader)) {
    const peeked = reader.peek()
    if (peeked?.startsWith('@@') || peeked === '*** End of File') break
    const line = reader.next() ?? ''
    const op = line[0] ?? ' '
    if (op !== ' ' && op !== '-' && op !== '+') {
      throw reader.invalid('lines of a hunk start with a space, - or +')
    }
    lines.push({ op, text: line.slice(1) })
  }
  return lines
}

function atNextFile(reader: LineReader): boolean {
  const line = reader.peek()
  if (line === undefined) throw reader.invalid('it ends without *** End Patch')
  return line === '*** End Patch' || header.test(line)
}
