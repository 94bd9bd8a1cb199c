import { diffLines } from 'diff'
import { diffBlock } from './code-block.ts'

/** Two texts that differ in more lines than this are shown whole, one after the other. */
const MAX_EDITS = 2_000

const before = ['old_string', 'oldString', 'oldText', 'old_str']
const after = ['new_string', 'newString', 'newText', 'new_str']

/** The change that the arguments of an editing tool describe, by whichever names it has for them. */
export function changeOf(given: Readonly<Record<string, unknown>>): string | undefined {
  const own = editText(given)
  if (own !== undefined) return own
  const { edits } = given
  if (!Array.isArray(edits) || edits.length === 0) return undefined
  const texts = edits.map((edit: unknown) => {
    return typeof edit === 'object' && edit !== null ? editText({ ...edit }) : undefined
  })
  return texts.every((text) => text !== undefined) ? texts.join('') : undefined
}

/** The members that `changeOf` has shown. */
export const changeMembers: readonly string[] = [...before, ...after, 'edits']

function editText(given: Readonly<Record<string, unknown>>): string | undefined {
  const old = textIn(given, before)
  const now = textIn(given, after)
  return old === undefined || now === undefined ? undefined : diffBlock(changedLines(old, now))
}

function textIn(given: Readonly<Record<string, unknown>>, names: readonly string[]) {
  return names.map((name) => given[name]).find((value) => typeof value === 'string')
}

function changedLines(old: string, now: string): string[] {
  const parts = diffLines(old, now, { maxEditLength: MAX_EDITS }) ?? [
    { value: old, removed: true, added: false },
    { value: now, added: true, removed: false },
  ]
  return parts.flatMap(({ value, added, removed }) => {
    const mark = added ? '+' : removed ? '-' : ' '
    return value
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => mark + line)
  })
}
