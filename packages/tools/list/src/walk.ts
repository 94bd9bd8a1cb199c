import type { DirectoryEntry } from '@cordage/core/environment'
import { isHarnessError } from '@cordage/core/error'
import type { ToolRun } from '@cordage/core/tool'
import { dirname, join } from 'node:path'

export interface ListedEntry {
  readonly name: string
  readonly kind: DirectoryEntry['kind']
  /** 1 for what is in the listed directory itself. */
  readonly depth: number
}

export interface Listing {
  readonly path: string
  /** Each directory is followed by what is in it. */
  readonly entries: readonly ListedEntry[]
  /** There are more entries than are listed. */
  readonly truncated: boolean
  /** What could not be looked into, and why. */
  readonly incomplete: readonly string[]
}

export interface WalkLimits {
  readonly depth: number
  readonly maxEntries: number
  readonly maxScanned: number
}

interface Walk extends WalkLimits {
  readonly run: ToolRun
  /** Whether the ignore files leave anything of a path; hidden entries are not asked about. */
  readonly kept: (path: string) => boolean
  readonly entries: ListedEntry[]
  truncated: boolean
}

/**
 * Lists a directory depth first. A search says what the ignore files leave, but knows files only:
 * directories that are empty are listed, too. Hidden entries are shown and not looked into.
 */
export async function walk(path: string, limits: WalkLimits, run: ToolRun): Promise<Listing> {
  const root = await list(run, path)
  const { kept, incomplete } = await findKept(run, root.path, limits.maxScanned)
  const state: Walk = { ...limits, run, kept, entries: [], truncated: false }
  await addEntries(root, 1, state)
  const { entries, truncated } = state
  return { path: root.path, entries, truncated, incomplete }
}

async function list(run: ToolRun, path: string) {
  await using target = await run.fs.forRead(path)
  return { path: target.path, entries: await target.list() }
}

async function findKept(run: ToolRun, path: string, maxResults: number) {
  const { items, incomplete } = await run.fs.glob(path, { pattern: '**/*', maxResults })
  // A search that stopped early does not know what it has not seen.
  if (items.length >= maxResults) return { kept: () => true, incomplete: [] }
  const known = new Set<string>()
  for (const item of items) {
    for (let at = item.path; at !== path && !known.has(at); at = dirname(at)) known.add(at)
  }
  return { kept: (at: string) => known.has(at), incomplete: [...incomplete] }
}

async function addEntries(
  directory: { path: string; entries: readonly DirectoryEntry[] },
  depth: number,
  state: Walk,
): Promise<void> {
  for (const entry of directory.entries) {
    if (entry.name === '.git') continue
    const path = join(directory.path, entry.name)
    const open = entry.kind === 'directory' && !entry.name.startsWith('.')
    const kept = !isSearched(entry) || state.kept(path)
    const below = open && (!kept || depth < state.depth) ? await look(path, state) : undefined
    // What cannot be looked into may be ignored or not: it is there, and the search says why.
    const unknown = open && (below === undefined || below.entries.length === 0)
    if (!kept && !unknown) continue
    if (state.entries.length >= state.maxEntries) {
      state.truncated = true
      return
    }
    state.entries.push({ name: entry.name, kind: entry.kind, depth })
    if (below && kept && depth < state.depth) await addEntries(below, depth + 1, state)
  }
}

/** The search follows no links and leaves hidden entries out. */
function isSearched({ name, kind }: DirectoryEntry): boolean {
  return kind !== 'symlink' && !name.startsWith('.')
}

async function look(path: string, { run }: Walk) {
  try {
    return await list(run, path)
  } catch (error) {
    if (isHarnessError(error)) return undefined
    throw error
  }
}
