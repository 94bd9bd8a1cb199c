import type { z } from 'zod'
import { escapeControls, nearest } from '../error/index.ts'
import { fieldsOf } from './schema.ts'

/** Arguments that a tool may be called with, or what is wrong with them, a sentence each. */
export type ParsedArguments =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly problems: readonly string[] }

const MAX_PROBLEMS = 8
const MAX_SHOWN = 80

/** Reads the JSON that a model wrote; nothing at all means no arguments. */
export function parseArguments(parameters: z.ZodType, text: string): ParsedArguments {
  let given: unknown
  try {
    given = text.trim() === '' ? {} : JSON.parse(text)
  } catch (error) {
    return { ok: false, problems: [explainSyntax(text, error)] }
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { ok: false, problems: [`they are ${show(given)}, and must be one JSON object`] }
  }
  const parsed = parameters.safeParse(given, { reportInput: true })
  if (parsed.success) return { ok: true, args: parsed.data }
  const fields = fieldsOf(parameters)
  const problems = parsed.error.issues.flatMap((issue) => explain(issue, given, fields))
  return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) }
}

function explainSyntax(text: string, error: unknown): string {
  const end = endOfObject(text)
  const rest = end === undefined ? '' : text.slice(end).trim()
  if (rest !== '') return `after the closing brace of the object comes ${show(rest)}`
  if (end === undefined && text.trimStart().startsWith('{')) {
    return 'the JSON object is cut off before its closing brace'
  }
  const reason = error instanceof Error ? error.message : 'unreadable'
  return `they are not JSON (${escapeControls(reason.slice(0, 200))})`
}

/** Where the first complete object of `text` ends, braces inside strings not counted. */
function endOfObject(text: string): number | undefined {
  const start = text.length - text.trimStart().length
  if (text[start] !== '{') return undefined
  let depth = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\]]/gs)) {
    if (token === '{' || token === '[') depth += 1
    if (token === '}' || token === ']') depth -= 1
    if (depth === 0 && !token.startsWith('"')) return index + 1
  }
  return undefined
}

function explain(issue: z.core.$ZodIssue, given: object, fields: readonly string[]): string[] {
  const name = issue.path.map(String).join('.')
  const atTop = issue.path.length === 0
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const path = atTop ? key : `${name}.${key}`
      return `${quote(path)} is not a parameter${atTop ? hint(key, fields) : ''}`
    })
  }
  if (issue.input === undefined && issue.code === 'invalid_type') {
    const strange = Object.keys(given).filter((key) => !fields.includes(key))
    const written = issue.path.length === 1 ? nearest(name, strange)[0] : undefined
    const instead = written === undefined ? '' : `; you wrote ${quote(written)}`
    return [`${quote(name)} is missing (${issue.expected})${instead}`]
  }
  const wish = issue.message.replace(/^Invalid (input|option): /, '')
  return [`${quote(name || 'the object')} is ${show(issue.input)}: ${wish}`]
}

function hint(key: string, fields: readonly string[]): string {
  const near = nearest(key, fields)
  const which = near.length > 0 ? near : fields
  const lead = near.length > 0 ? 'did you mean' : 'the parameters are'
  return which.length === 0 ? '; there are none' : `; ${lead} ${which.map(quote).join(', ')}`
}

function quote(name: string): string {
  return `\`${escapeControls(name.slice(0, MAX_SHOWN))}\``
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
  return escapeControls(cut.toWellFormed())
}
