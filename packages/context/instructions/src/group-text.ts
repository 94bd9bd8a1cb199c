import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { frame } from '@cordage/core/tool'
import type { FittedGroup, Instruction } from './fit.ts'

const MAX_NAMED = 10

/** What the model is told of a group: empty where there is nothing to tell. */
export function groupText(group: FittedGroup, title: string, root: string): string {
  const { files, dropped, cut, left } = group
  if (files.length === 0 && dropped.length === 0) return ''
  const named = (paths: readonly string[]) => list(paths.map((path) => nameOf(path, root)))
  return [
    title,
    ...files.map((file) => framed(file, root)),
    ...(cut ? ['The file above was cut: it exceeds the budget for instructions.'] : []),
    ...(dropped.length > 0 ? [`Left out for want of room: ${named(dropped)}.`] : []),
    ...(left.length > 0 ? [`Not imported: ${list(left)}.`] : []),
  ].join('\n')
}

/** The tag carries a digest of the content, so that no content can name the end of its frame. */
function framed({ path, text }: Instruction, root: string): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return frame(`file-${digest}`, { path: relative(root, path) }, text.trimEnd())
}

function nameOf(path: string, root: string): string {
  return JSON.stringify(relative(root, path))
}

function list(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  const shown = names.slice(0, MAX_NAMED).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}
