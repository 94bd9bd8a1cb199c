import { join } from 'node:path'
import {
  environmentError,
  type GrepLine,
  type GrepQuery,
  type SearchResult,
} from '@cordage/core/environment'
import { escapeControls } from '@cordage/core/error'
import { z } from 'zod'
import { describeUnnamed, readPath } from './glob.ts'
import { compilePattern, isHidden } from './pattern.ts'
import { runRipgrep, searchArgs } from './ripgrep.ts'

/** Where to search: below `cwd`, or in the open file `stdin`. `path` is what results are named. */
export interface GrepPlace {
  readonly path: string
  readonly cwd: string
  readonly stdin?: number
}

const MAX_LINE = 500
const MAX_CONTEXT = 100
const NEWLINE = 10

export async function grepFiles(
  place: GrepPlace,
  query: GrepQuery,
  signal: AbortSignal,
): Promise<SearchResult<GrepLine>> {
  const collector = collect(place, query)
  const { reason, incomplete } = await runRipgrep({
    args: grepArgs(place, query),
    cwd: place.cwd,
    path: place.path,
    ...(place.stdin === undefined ? {} : { stdin: place.stdin }),
    delimiter: NEWLINE,
    signal,
    onRecord: collector.take,
  })
  const { pattern } = query
  if (reason) throw environmentError('PATTERN_INVALID', { pattern, reason })
  const { items, notes } = collector.end()
  return { items, incomplete: [...incomplete, ...notes] }
}

function grepArgs(place: GrepPlace, query: GrepQuery): string[] {
  const args = [
    ...searchArgs(query),
    '--json',
    query.ignoreCase ? '--ignore-case' : '--case-sensitive',
  ]
  if (query.multiline) args.push('--multiline', '--multiline-dotall')
  args.push(
    '--before-context',
    contextArg(query.before),
    '--after-context',
    contextArg(query.after),
  )
  const inFile = place.stdin !== undefined
  if (query.fileType && !inFile) args.push('--type', query.fileType)
  else if (query.glob && !inFile) args.push(...narrow(query.glob))
  return [...args, '--regexp', query.pattern, '--', inFile ? '-' : './']
}

function contextArg(lines = 0): string {
  return String(Math.min(Math.max(Math.trunc(lines), 0), MAX_CONTEXT))
}

/**
 * Has ripgrep skip most files that `glob` will leave out anyway. As a file type, since its `--glob`
 * would bring back what the ignore files leave out.
 */
function narrow(glob: string): string[] {
  const name = /^(?:[^!{}[\]]*\/)?([\w.*?{},-]+)$/.exec(glob)?.[1]
  if (!name || !name.replaceAll('*', '') || /[{,]/.test(name.replace(/\{[\w.*,-]+\}/g, '')))
    return []
  return ['--type-add', `cordage:${name}`, '--type', 'cordage']
}

function collect(place: GrepPlace, query: GrepQuery) {
  const inFile = place.stdin !== undefined
  const accepts =
    query.glob && !inFile ? compilePattern(query.glob, place.path, { anywhere: true }) : () => true
  const items: GrepLine[] = []
  const unnamed: string[] = []
  const notes: string[] = []
  let file: { path: string; first: number; matches: number } | undefined
  let matches = 0

  const begin = (bytes: Buffer) => {
    const path = inFile ? '' : readPath(bytes)
    if (path === undefined) unnamed.push(String(bytes))
    const wanted = path !== undefined && accepts(path) && (query.hidden || !isHidden(path))
    // Ripgrep shows hidden files of a given type even when not asked to.
    file = wanted ? { path: join(place.path, path), first: items.length, matches: 0 } : undefined
  }
  const add = (record: LineRecord, match: boolean): boolean => {
    if (!file) return true
    if (match && matches >= query.maxResults) {
      notes.push(`Only the first ${query.maxResults} matching lines are shown.`)
      return false
    }
    const lines = readBytes(record.data.lines)
      .toString()
      .replace(/\r?\n$/, '')
      .split('\n')
    const first = record.data.line_number ?? 0
    lines.forEach((text, index) => {
      items.push({ path: file?.path ?? '', line: first + index, text: cutLine(text), match })
    })
    if (!match) return true
    matches++
    file.matches++
    return true
  }
  const end = (binary: boolean) => {
    if (file && binary) {
      items.length = file.first
      matches -= file.matches
      if (inFile) notes.push(`${escapeControls(place.path)} is a binary file.`)
    }
    file = undefined
  }

  return {
    take: (bytes: Buffer | undefined): boolean => {
      if (!bytes) {
        if (file)
          notes.push(`${escapeControls(file.path)}: a match in a very long line is left out.`)
        return true
      }
      const record = recordSchema.parse(JSON.parse(String(bytes)))
      if (record.type === 'begin') begin(readBytes(record.data.path))
      else if (record.type === 'end') end(record.data.binary_offset !== null)
      else if (record.type !== 'summary') return add(record, record.type === 'match')
      return true
    },
    end: () => ({
      items: trimContext(items, query.after ?? 0),
      notes: [...notes, ...describeUnnamed(unnamed)],
    }),
  }
}

/** Drops the context of a match that the limit has cut off. */
function trimContext(items: GrepLine[], after: number): GrepLine[] {
  const last = items.findLastIndex((item) => item.match)
  const match = items[last]
  if (!match) return []
  return items.filter((item, index) => {
    return index <= last || (item.path === match.path && item.line <= match.line + after)
  })
}

function cutLine(text: string): string {
  const line = text.endsWith('\r') ? text.slice(0, -1) : text
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1).toWellFormed()}…` : line
}

const bytesSchema = z.union([z.object({ text: z.string() }), z.object({ bytes: z.string() })])
const lineSchema = z.object({ lines: bytesSchema, line_number: z.number().nullable() })
/** The records of `rg --json`, as far as they are used. */
const recordSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('begin'), data: z.object({ path: bytesSchema }) }),
  z.object({ type: z.literal('match'), data: lineSchema }),
  z.object({ type: z.literal('context'), data: lineSchema }),
  z.object({ type: z.literal('end'), data: z.object({ binary_offset: z.number().nullable() }) }),
  z.object({ type: z.literal('summary') }),
])

type LineRecord = Extract<z.infer<typeof recordSchema>, { type: 'match' | 'context' }>

function readBytes(value: z.infer<typeof bytesSchema>): Buffer {
  return 'text' in value ? Buffer.from(value.text) : Buffer.from(value.bytes, 'base64')
}
