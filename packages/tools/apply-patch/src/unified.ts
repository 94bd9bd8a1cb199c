import type { StructuredPatch, StructuredPatchHunk } from 'diff'
import { parsePatch } from 'diff/lib/patch/parse.js'
import { fail } from './errors.ts'
import type { FilePatch, Hunk, HunkLine } from './patch.ts'

/** Unified diffs, git's included. Throws `PATCH_INVALID`. */
export function parseUnified(text: string): FilePatch[] {
  const patches = parseOrFail(text).filter(({ oldFileName, newFileName }) => {
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
    const reason = error instanceof Error ? error.message : String(error)
    const line = Number(/line (\d+)/.exec(reason)?.[1] ?? 1)
    throw fail('PATCH_INVALID', { line, reason }, { cause: error })
  }
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
