import { dirname, join, relative, resolve, sep } from 'node:path'
import { contains } from '@cordage/core/policy'
import type { Group, Instruction } from './fit.ts'
import type { Judge, Reader, ReadText } from './reader.ts'

const MAX_DEPTH = 5
const MAX_IMPORTS = 64

export interface CollectOptions {
  readonly reader: Reader
  readonly names: readonly string[]
  /** Of the files themselves, which may be links. */
  readonly judge: Judge
  /** The directory whose files may be imported, resolved; without it none are. */
  readonly project?: string
}

/** The files of some directories, each after what it imports. */
export async function collect(
  id: string,
  directories: readonly string[],
  options: CollectOptions,
): Promise<Group> {
  const { names, reader, judge } = options
  const read = async (path: string) => ({ path, file: await reader.read(path, judge) })
  const places = directories.map(async (directory) => {
    const there = await reader.among(directory, names)
    return Promise.all(there.map((name) => read(join(directory, name))))
  })
  const collected = { files: [] as Instruction[], left: [] as string[], seen: new Set<string>() }
  for (const place of await Promise.all(places)) {
    const said = new Set<string>()
    for (const { path, file } of place) {
      if (typeof file === 'string' || file.text.trim() === '') continue
      // CLAUDE.md is often a link to AGENTS.md, or a copy: one text is said once.
      if (said.has(file.text.trim()) || collected.seen.has(file.path)) continue
      said.add(file.text.trim())
      await addFile({ path, file, depth: 0 }, collected, options)
    }
  }
  return { id, files: collected.files, left: collected.left }
}

interface Collected {
  readonly files: Instruction[]
  readonly left: string[]
  /** Resolved. */
  readonly seen: Set<string>
}

interface Found {
  /** By which it was found: what it imports is relative to this. */
  readonly path: string
  readonly file: ReadText
  readonly depth: number
}

async function addFile(found: Found, collected: Collected, options: CollectOptions): Promise<void> {
  const { path, file, depth } = found
  collected.seen.add(file.path)
  const imports = options.project === undefined ? [] : file.imports
  for (const name of imports) {
    const why = await addImport({ name, from: path, depth: depth + 1 }, collected, options)
    // `@scope/package` and the like are no files that somebody misses.
    const meant = why !== 'missing' || /^(\.{0,2}|~)\/|\.\w+$/.test(name)
    if (why !== undefined && meant) collected.left.push(`${JSON.stringify(name)} (${why})`)
  }
  collected.files.push({ path, text: file.text })
}

/** Says why it is not there, except of what is there already. */
async function addImport(
  { name, from, depth }: { name: string; from: string; depth: number },
  collected: Collected,
  options: CollectOptions,
): Promise<string | undefined> {
  const { project = '', judge, reader } = options
  const path = resolve(dirname(from), name)
  if (name.startsWith('~') || !contains(project, path)) return 'outside of the project'
  if (depth > MAX_DEPTH) return 'too deep'
  if (collected.seen.size >= MAX_IMPORTS) return 'too many'
  const inside: Judge = (real) => (contains(project, real) ? judge(real) : 'outside of the project')
  const file = await reader.read(path, inside)
  if (file === 'not readable') return 'missing'
  if (typeof file === 'string') return file
  if (!collected.seen.has(file.path)) await addFile({ path, file, depth }, collected, options)
  return undefined
}

/** The root and every directory below it down to `inner`, broadest first. */
export function directoriesTo(root: string, inner: string): string[] {
  const below = relative(root, inner)
  if (below === '' || !contains(root, inner)) return [root]
  const parts = below.split(sep)
  return [root, ...parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))]
}
