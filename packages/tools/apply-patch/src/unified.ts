import { reasonOf } from '@cordage/core/kernel'
import type { StructuredPatch, StructuredPatchHunk } from 'diff'
import { parsePatch } from 'diff/lib/patch/parse.js'
import { fail } from './errors.ts'
import type { FilePatch, Hunk, HunkLine } from './patch.ts'

/** Unified diffs, git's included. Throws `PATCH_INVALID`. */
export function parseUnified(text: string): FilePatch[] {
  const patches = parseOrFail(recount(text)).filter(({ oldFileName, newFileName }) => {
    return oldFileName !== undefined || newFileName !== undefined
  })
  if (patches.length > 0) return patches.map(toFilePatch)
  const reason = 'it is neither a unified diff nor starts with *** Begin Patch'
  throw fail('PATCH_INVALID', { line: 1, reason })
}

function parseOrFail(text: string): StructuredPatch[] {
  try {
    return parsePatch(text)
  } catch (error) {
    const reason = reasonOf(error)
    const line = Number(/line (\d+)/.exec(reason)?.[1] ?? 1)
    throw fail('PATCH_INVALID', { line, reason }, { cause: error })
  }
}

/** Gives each hunk the counts of the lines that it has: models often count wrong. */
function recount(text: string): string {
  const lines = text.split('\n')
  for (const [at, line] of lines.entries()) {
    const [, from, to, rest] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line) ?? []
    if (rest === undefined) continue
    const end = endOfHunk(lines, at + 1)
    for (let index = at + 1; index < end; index += 1) {
      // An empty line of context has often lost its space.
      lines[index] ||= ' '
      const reason = 'lines of a hunk start with a space, - or +'
      if (!/^[ +\\-]/.test(lines[index] ?? ''))
        throw fail('PATCH_INVALID', { line: index + 1, reason })
    }
    const body = lines.slice(at + 1, end)
    const removed = body.filter((one) => one.startsWith(' ') || one.startsWith('-')).length
    const added = body.filter((one) => one.startsWith(' ') || one.startsWith('+')).length
    lines[at] = `@@ -${from},${removed} +${to},${added} @@${rest}`
  }
  return lines.join('\n')
}

function endOfHunk(lines: readonly string[], start: number): number {
  let end = start
  while (end < lines.length && !startsNext(lines, end)) end += 1
  while (end > start && lines[end - 1] === '') end -= 1
  return end
}

function startsNext(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? ''
  if (line.startsWith('--- ')) return lines[at + 1]?.startsWith('+++ ') ?? false
  // The last is the signature below a patch in a mail.
  return /^(?:@@ -|diff --git |Index: |-- $)/.test(line)
}

function toFilePatch(patch: StructuredPatch): FilePatch {
  const { from, to } = fileNames(patch)
  if (patch.isCopy)
    throw fail('PATCH_INVALID', { line: 1, reason: `it copies ${from}; add a file` })
  const hunks = patch.hunks.map(toHunk)
  if (to === undefined) return { kind: 'delete', path: from ?? '' }
  if (from === undefined) return { kind: 'add', path: to, text: addedText(hunks) }
  return { kind: 'update', path: from, hunks, ...(to === from ? {} : { moveTo: to }) }
}

/** `undefined` where the diff says that there is no file. */
function fileNames({ oldFileName, newFileName, ...patch }: StructuredPatch) {
  const from = patch.isCreate || oldFileName === '/dev/null' ? undefined : oldFileName
  const to = patch.isDelete || newFileName === '/dev/null' ? undefined : newFileName
  const prefixed = (from ?? 'a/').startsWith('a/') && (to ?? 'b/').startsWith('b/')
  const strip = (name: string | undefined) => (prefixed ? name?.slice(2) : name)
  return { from: strip(from), to: strip(to) }
}

function toHunk(hunk: StructuredPatchHunk): Hunk {
  const lines: HunkLine[] = []
  let oldNewline = true
  let newNewline = true
  for (const line of hunk.lines) {
    const op = line[0]
    if (op === '\\') {
      const last = lines.at(-1)?.op
      if (last !== '+') oldNewline = false
      if (last !== '-') newNewline = false
    } else if (op === '-' || op === '+') {
      lines.push({ op, text: line.slice(1) })
    } else {
      lines.push({ op: ' ', text: line.slice(1) })
    }
  }
  const marked = oldNewline && newNewline ? {} : { finalNewline: newNewline }
  return { anchors: [], lines, atEnd: false, line: hunk.oldStart, ...marked }
}

function addedText(hunks: readonly Hunk[]): string {
  const lines = hunks.flatMap((hunk) => hunk.lines).filter(({ op }) => op === '+')
  const text = lines.map((line) => `${line.text}\n`).join('')
  return hunks.at(-1)?.finalNewline === false ? text.slice(0, -1) : text
}
