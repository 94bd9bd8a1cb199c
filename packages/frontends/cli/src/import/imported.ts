import { harmless, oneLine } from '../print/table.ts'
import type { ImportFormat } from './entry.ts'
import type { LeftKind } from './left-behind.ts'

/** What became of one transcript. */
export interface Imported {
  readonly path: string
  readonly from: ImportFormat
  /** `already`: the same transcript was brought in before, and nothing was done. */
  readonly status: 'imported' | 'already' | 'failed'
  /** The id that it has here. */
  readonly session?: string
  readonly project?: string
  readonly turns: number
  readonly messages: number
  readonly facts: number
  /** Ids of the sessions that it started. */
  readonly children: readonly string[]
  readonly left: readonly LeftKind[]
  /** Earlier states of the same session, brought in before. */
  readonly earlier: readonly string[]
  readonly error?: { readonly code: string; readonly message: string }
}

export function importedText(result: Imported): string {
  const { path, from, status, session, error, turns, facts, children, left, earlier } = result
  const where = `${from}: ${harmless(path)}`
  if (status === 'failed') return `failed    ${where}\n  ${harmless(error?.message ?? '')}\n`
  if (status === 'already') return `already   ${session}  ${where}\n`
  const size = `${turns} turns, ${facts} facts`
  const started = children.length > 0 ? `, ${children.length} sessions that it started` : ''
  const lines = [`imported  ${session}  ${where}`, `  ${size}${started}`]
  for (const id of earlier) lines.push(`  an earlier state of it is ${id}`)
  for (const { kind, count, examples } of left) {
    const shown = examples
      .filter((example) => example !== '')
      .map((example) => oneLine(example, 60))
    lines.push(
      `  not carried: ${count} ${kind}${shown.length > 0 ? ` (${shown.join(' | ')})` : ''}`,
    )
  }
  return `${lines.join('\n')}\n`
}
