import { textOf } from '@cordage/core/message'
import { countText, durationText } from '../../usage/spend.ts'
import type { CallMoment } from '../moments.ts'
import { visibleLine } from '../visible-text.ts'
import { changeMembers, changeOf } from './change.ts'
import { codeBlock, diffBlock } from './code-block.ts'
import { escaped } from './escape.ts'

const TITLE_CHARS = 120

/** What a call is mostly about, in the order of preference. */
const telling = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'path',
  'pattern',
  'query',
  'url',
  'name',
]

/** A tool call, folded: what it was in a line, then what was given and what came back. */
export function callHtml({ name, arguments: given, result }: CallMoment, images: string): string {
  const args = objectIn(given)
  const state = result === undefined ? 'open' : result.part.isError ? 'failed' : 'done'
  const took = result?.durationMs === undefined ? '' : durationText(result.durationMs)
  const says = visibleLine(titleOf(given, args), TITLE_CHARS)
  const shown = result === undefined ? '' : textOf(result.part)
  const body = [
    args === undefined ? codeBlock(given) : argumentsHtml(args),
    shown === '' ? '' : `<div class="result">${codeBlock(shown)}</div>`,
    images,
    result?.truncated === undefined ? '' : truncationHtml(result.truncated),
    result === undefined ? '<p class="note">There is no result.</p>' : '',
  ]
  return (
    `<details class="call ${state}"><summary><b>${escaped(name)}</b> <code>${escaped(says)}</code>` +
    `<span class="took">${took}</span></summary>\n${body.join('')}</details>\n`
  )
}

function truncationHtml({ chars, blob }: { chars: number; blob?: { hash: string } | undefined }) {
  const whole = blob === undefined ? '' : `; the whole is the session's blob ${escaped(blob.hash)}`
  return `<p class="note">Shown in part, of ${countText(chars)} characters${whole}.</p>\n`
}

function objectIn(given: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(given)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

function titleOf(given: string, args: Readonly<Record<string, unknown>> | undefined): string {
  if (args === undefined) return given
  const value =
    telling
      .map((name) => args[name])
      .find((one) => typeof one === 'string' || Array.isArray(one)) ??
    Object.values(args).find((one) => typeof one === 'string')
  if (Array.isArray(value)) return value.join(' ')
  if (typeof value !== 'string') return ''
  return /^\*\*\* (?:Add|Update|Delete) File: .*$/m.exec(value)?.[0].slice(4) ?? value
}

function argumentsHtml(args: Readonly<Record<string, unknown>>): string {
  const change = changeOf(args)
  const written = change === undefined ? writtenText(args) : undefined
  const rest = Object.entries(args).filter(([name]) => {
    if (change !== undefined && changeMembers.includes(name)) return false
    return written === undefined || name !== 'content'
  })
  const [first] = rest
  const only = rest.length === 1 && change === undefined && written === undefined
  // The one argument of most calls needs no name.
  if (only && typeof first?.[1] === 'string') return codeBlock(first[1])
  const members = rest.map(([name, value]) => memberHtml(name, value)).join('')
  const list = members === '' ? '' : `<dl>${members}</dl>\n`
  return list + (change ?? '') + (written ?? '')
}

function writtenText({ content }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof content !== 'string') return undefined
  const lines = content.replace(/\n$/, '').split('\n')
  return diffBlock(lines.map((line) => `+${line}`))
}

function memberHtml(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const shown =
    text.length > 80 || text.includes('\n') ? codeBlock(text) : `<code>${escaped(text)}</code>`
  return `<dt>${escaped(name)}</dt><dd>${shown}</dd>`
}
