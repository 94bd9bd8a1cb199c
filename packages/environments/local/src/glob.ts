import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { environmentError, type GlobQuery, type SearchResult } from '@cordage/core/environment'
import { escapeControls } from '@cordage/core/error'
import type { Directory } from './directory.ts'
import { compilePattern } from './pattern.ts'
import { runRipgrep, searchArgs } from './ripgrep.ts'

export interface FoundFile {
  readonly path: string
  readonly modifiedAt: number
}

export async function globFiles(
  directory: Directory,
  query: GlobQuery,
  signal: AbortSignal,
): Promise<SearchResult<FoundFile>> {
  const matches = compilePattern(query.pattern, directory.path, { anywhere: false })
  const found: string[] = []
  const unnamed: string[] = []
  let limited = false
  const { reason, incomplete } = await runRipgrep({
    args: [...searchArgs(query), '--files', '--null', './'],
    cwd: directory.forChild(),
    path: directory.path,
    delimiter: 0,
    signal,
    onRecord: (record) => {
      const path = readPath(record ?? Buffer.of())
      if (path === undefined) unnamed.push(String(record))
      else if (matches(path)) {
        limited = found.length >= query.maxResults
        if (!limited) found.push(path)
      }
      return !limited
    },
  })
  if (reason) throw environmentError('SEARCH_FAILED', { path: directory.path, reason })
  await directory.verify()
  return {
    items: await Promise.all(found.map((path) => describe(directory, path))),
    incomplete: [
      ...incomplete,
      ...describeUnnamed(unnamed),
      ...(limited ? [`Only the first ${query.maxResults} files are shown.`] : []),
    ],
  }
}

/** A path below the searched directory; undefined where its bytes are not UTF-8. */
export function readPath(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes).replace(/^\.[\\/]/, '')
  } catch {
    return undefined
  }
}

export function describeUnnamed(names: readonly string[]): string[] {
  const [first] = names
  if (first === undefined) return []
  return [`${names.length} files whose name is not UTF-8 are left out: ${escapeControls(first)}`]
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

async function describe(directory: Directory, path: string): Promise<FoundFile> {
  // It may be gone since it was found.
  const stats = await lstat(directory.at(path)).catch(() => undefined)
  return { path: join(directory.path, path), modifiedAt: stats?.mtimeMs ?? 0 }
}
