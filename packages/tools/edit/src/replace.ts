import { describeClosest } from './closest.ts'
import { fail } from './errors.ts'
import { unifyLineEndings } from './line-endings.ts'

export interface Edit {
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean | undefined
}

export interface Replaced {
  readonly text: string
  readonly count: number
}

/**
 * Applies the edits one after the other, each to the outcome of those before; all or nothing.
 * Line endings do not have to match: new text takes those of the place where it goes. Throws
 * `EDIT_NOT_FOUND`, `EDIT_AMBIGUOUS`, `EDIT_NO_CHANGE`.
 */
export function replaceAll(text: string, edits: readonly Edit[], path: string): Replaced {
  let current = text
  let count = 0
  for (const [index, edit] of edits.entries()) {
    const replaced = replaceOne(current, edit, { path, number: index + 1 })
    current = replaced.text
    count += replaced.count
  }
  return { text: current, count }
}

function replaceOne(text: string, edit: Edit, place: { path: string; number: number }): Replaced {
  const unified = unifyLineEndings(text)
  const before = edit.old_string.replaceAll('\r\n', '\n')
  const after = edit.new_string.replaceAll('\r\n', '\n')
  if (before === after) throw fail('EDIT_NO_CHANGE', place)
  const found = occurrences(unified.text, before)
  if (found.length === 0) {
    throw fail('EDIT_NOT_FOUND', { ...place, closest: describeClosest(unified.text, before) })
  }
  if (found.length > 1 && !edit.replace_all) {
    const lines = lineNumbers(unified.text, found.slice(0, 10)).join(', ')
    const more = found.length > 10 ? ', …' : ''
    throw fail('EDIT_AMBIGUOUS', { ...place, count: found.length, lines: lines + more })
  }
  const pieces: string[] = []
  let from = 0
  for (const at of found) {
    pieces.push(text.slice(from, unified.toOriginal(at)))
    pieces.push(after.replaceAll('\n', unified.endingAt(at)))
    from = unified.toOriginal(at + before.length)
  }
  pieces.push(text.slice(from))
  return { text: pieces.join(''), count: found.length }
}

function occurrences(text: string, part: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    found.push(at)
  }
  return found
}

/** The lines (from 1) of ascending offsets. */
function lineNumbers(text: string, offsets: readonly number[]): number[] {
  let line = 1
  let from = 0
  return offsets.map((offset) => {
    for (; from < offset; from += 1) if (text[from] === '\n') line += 1
    return line
  })
}
