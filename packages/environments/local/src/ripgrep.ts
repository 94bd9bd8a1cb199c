import { spawn } from 'node:child_process'
import { environmentError } from '@cordage/core/environment'
import { escapeControls } from '@cordage/core/error'
import { assert } from '@cordage/core/kernel'
import { killAtExit } from './at-exit.ts'

export interface Search {
  readonly args: readonly string[]
  readonly cwd: string
  /** For messages. */
  readonly path: string
  /** An open file to read, in place of searching `cwd`. */
  readonly stdin?: number
  /** The byte after each record. */
  readonly delimiter: number
  readonly signal: AbortSignal
  /** Takes a record, undefined for one over 1 MB; false ends the search. */
  readonly onRecord: (record: Buffer | undefined) => boolean
}

/** `reason` is the complaint of a search that never began; `incomplete` as in `SearchResult`. */
export interface SearchEnd {
  readonly reason?: string
  readonly incomplete: string[]
}

const SEARCH_MS = 20_000
const MAX_RECORD_BYTES = 1024 * 1024
const MAX_STDERR = 16 * 1024
const MAX_COMPLAINTS = 20

/** The same files in the same order each time, whatever the person's own settings are. */
const BASE_ARGS = ['--no-config', '--no-require-git', '--no-ignore-global', '--sort', 'path']

export function searchArgs(query: { hidden?: boolean; ignored?: boolean }): string[] {
  const args = [...BASE_ARGS]
  if (query.ignored) args.push('--no-ignore')
  // A glob that only excludes has no influence on the ignore files, others would overrule them.
  if (query.hidden) args.push('--hidden', '--glob', '!.git')
  return args
}

/** Throws the reason of the signal, or `SEARCH_FAILED` when there is no ripgrep. */
export async function runRipgrep(search: Search): Promise<SearchEnd> {
  const { signal, path } = search
  signal.throwIfAborted()
  const failed = (reason: string, cause?: unknown) =>
    environmentError('SEARCH_FAILED', { path, reason }, { cause })
  const { rgPath } = await import('@vscode/ripgrep').catch((error) => {
    throw failed('ripgrep is not installed for this system', error)
  })
  const child = spawn(rgPath, search.args, {
    cwd: search.cwd,
    env: {},
    stdio: [search.stdin ?? 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
  })
  const { stdout, stderr } = child
  assert(stdout && stderr, 'the output of ripgrep is piped')
  let cut: 'time' | 'caller' | undefined
  const stop = (why: 'time' | 'caller') => {
    cut ??= why
    child.kill('SIGKILL')
  }
  const release = killAtExit(() => child.kill('SIGKILL'))
  const onAbort = () => stop('caller')
  signal.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(() => stop('time'), SEARCH_MS)
  const complaints = collectText(stderr)
  const onRecord = splitRecords(search)
  stdout.on('data', (chunk: Buffer) => {
    if (cut !== 'caller' && !onRecord(chunk)) stop('caller')
  })
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (error) => reject(failed('ripgrep could not be started', error)))
      child.once('close', resolve)
    })
    signal.throwIfAborted()
    const end = judge(code, complaints(), cut !== undefined)
    if (code === null && !cut) throw failed('ripgrep was ended by a signal')
    if (cut === 'time') end.incomplete.push(`The search was ended after ${SEARCH_MS / 1000} s.`)
    return end
  } finally {
    clearTimeout(timer)
    release()
    signal.removeEventListener('abort', onAbort)
  }
}

function judge(code: number | null, stderr: string, cut: boolean): SearchEnd {
  const text = stderr.trim()
  if (code !== 2 || text === '' || cut) return { incomplete: readComplaints(text) }
  // Every search is of `./` or standard input, so complaints about files begin with those.
  if (/^rg: (\.\/|\.:|<stdin>|-:)/.test(text)) return { incomplete: readComplaints(text) }
  return { reason: text.replace(/^rg: /, ''), incomplete: [] }
}

function readComplaints(text: string): string[] {
  const all = text.split(/^rg: /m).filter((part) => part.trim() !== '')
  const shown = all.slice(0, MAX_COMPLAINTS).map(readComplaint)
  const more = all.length - shown.length
  return more > 0 ? [...shown, `${more} more entries could not be searched.`] : shown
}

/** `./locked: IO error for operation on ./locked: Permission denied (os error 13)`, in short. */
function readComplaint(text: string): string {
  const short = text.trim().replace(/: IO error for operation on [^]*: /, ': ')
  return escapeControls(short.replace(/^\.\//, '').replace(/ \(os error \d+\)$/, ''))
}

function collectText(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  let total = 0
  stream.on('data', (chunk: Buffer) => {
    if (total >= MAX_STDERR) return
    total += chunk.length
    chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).subarray(0, MAX_STDERR).toString()
}

/** Feeds whole records to the search and never holds more than one. */
function splitRecords({ delimiter, onRecord }: Search): (chunk: Buffer) => boolean {
  let parts: Buffer[] = []
  let held = 0
  const take = (): boolean => {
    const record = held > MAX_RECORD_BYTES ? undefined : Buffer.concat(parts, held)
    parts = []
    held = 0
    return onRecord(record)
  }
  return (chunk) => {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(delimiter, start)
      const part = chunk.subarray(start, end < 0 ? chunk.length : end)
      held += part.length
      if (held <= MAX_RECORD_BYTES) parts.push(part)
      if (end < 0) return true
      if (!take()) return false
      start = end + 1
    }
  }
}
