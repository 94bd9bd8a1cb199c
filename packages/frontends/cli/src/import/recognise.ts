import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { systemReason } from '../boot/make-directory.ts'
import { isClaudeCode } from './claude-code.ts'
import { isCodex } from './codex.ts'
import { isCordage } from './cordage-lines.ts'
import { isDsh } from './dsh.ts'
import { importFormats, type ImportFormat } from './entry.ts'
import { importError } from './errors.ts'
import { LeftBehind } from './left-behind.ts'
import { firstRecords, parsed } from './lines.ts'
import { recordIn, wordsIn, type Loose } from './loose.ts'
import { isOpencodeExport, isOpencodeSession } from './opencode.ts'
import { isPi } from './pi.ts'
import type { TranscriptSource } from './source.ts'

const marks: readonly (readonly [ImportFormat, (value: Loose) => boolean])[] = [
  ['cordage', isCordage],
  ['dsh', isDsh],
  ['pi', isPi],
  ['codex', isCodex],
  ['claude-code', isClaudeCode],
]

/** Enough to get past lines that many programs write at the beginning. */
const FIRST_LINES = 5
const MAX_DEPTH = 8

/**
 * The transcripts at a path: the one in a file, or all in a folder and below it. Throws
 * `IMPORT_NOT_FOUND`, `IMPORT_UNKNOWN`.
 */
export async function transcriptsAt(
  given: string,
  from: ImportFormat | undefined,
): Promise<TranscriptSource[]> {
  const path = resolve(given)
  const found = await stat(path).catch((error: unknown) => {
    throw importError('IMPORT_NOT_FOUND', { path: given, reason: systemReason(error) })
  })
  // What is given by itself is what the caller says; of a folder, only what looks so.
  if (found.isFile() && from !== undefined) return [await sourceOf(path, from)]
  const files = found.isDirectory() ? await candidatesIn(path, 0) : [path]
  const sources: TranscriptSource[] = []
  for (const file of files) {
    const format = await formatOf(file)
    if (format === undefined || (from !== undefined && format !== from)) continue
    if (!(await isOfAnother(file, files))) sources.push(await sourceOf(file, format))
  }
  if (sources.length === 0) {
    throw importError('IMPORT_UNKNOWN', { path: given, formats: importFormats.join(', ') })
  }
  return sources
}

async function sourceOf(path: string, from: ImportFormat): Promise<TranscriptSource> {
  return { from, path, agents: from === 'claude-code' ? await agentsOf(path) : [] }
}

async function candidatesIn(folder: string, depth: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const files: string[] = []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && depth < MAX_DEPTH)
      files.push(...(await candidatesIn(path, depth + 1)))
    else if (entry.isFile() && isCandidate(entry.name)) files.push(path)
  }
  return files
}

function isCandidate(name: string): boolean {
  return /\.jsonl(?:\.zstd?)?$/.test(name) || /^ses_?\w+\.json$/.test(name)
}

async function formatOf(path: string): Promise<ImportFormat | undefined> {
  if (path.endsWith('.json')) {
    const value = recordIn(parsed(await readFile(path, 'utf8')))
    return isOpencodeExport(value) || isOpencodeSession(value) ? 'opencode' : undefined
  }
  const records = await firstRecords(path, FIRST_LINES, new LeftBehind())
  return marks.find(([, isIt]) => records.some(isIt))?.[0]
}

/** Sub-agents come with the session that started them, where its file is there too. */
async function isOfAnother(path: string, files: readonly string[]): Promise<boolean> {
  if (!basename(path).startsWith('agent-')) return false
  const [first] = await firstRecords(path, 1, new LeftBehind())
  const main = `${wordsIn(first?.['sessionId'])}.jsonl`
  return first?.['isSidechain'] === true && files.some((file) => basename(file) === main)
}

async function agentsOf(path: string): Promise<string[]> {
  const session = basename(path).replace(/\.jsonl$/, '')
  const beside = await agentFiles(dirname(path))
  const below = await agentFiles(join(dirname(path), session, 'subagents'))
  const own: string[] = []
  for (const file of [...beside, ...below]) {
    const [first] = await firstRecords(file, 1, new LeftBehind())
    if (file !== path && first?.['sessionId'] === session) own.push(file)
  }
  return own
}

async function agentFiles(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder)
    return names
      .filter((name) => /^agent-.*\.jsonl$/.test(name))
      .sort()
      .map((name) => join(folder, name))
  } catch {
    // Most sessions have started no agent.
    return []
  }
}
