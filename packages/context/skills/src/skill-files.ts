import { join } from 'node:path'
import { inspect, type FileSystem } from '@cordage/core/environment'
import { MAX_HEAD_BYTES, parseSkill, type SkillHead } from './skill-text.ts'

export interface Skill extends SkillHead {
  /** Of its file, as it was found. */
  readonly path: string
}

/** What is there and cannot be used. */
export interface SkillProblem {
  readonly path: string
  readonly reason: string
}

export interface SkillSet {
  /** By name. */
  readonly skills: readonly Skill[]
  readonly problems: readonly SkillProblem[]
}

/** Whether a file may be read that is really at `path`. */
export type MayRead = (path: string) => boolean

interface KnownFile {
  readonly fingerprint: string
  readonly real: string
  readonly found: Skill | SkillProblem
}

interface KnownRoot {
  readonly fingerprint: string
  readonly paths: readonly string[]
}

const MAX_ENTRIES = 5_000
const MAX_OPEN = 16

/** The skills of some directories; a file is read again only once it is another one. */
export class SkillFiles {
  readonly #fs: FileSystem
  readonly #roots = new Map<string, KnownRoot>()
  readonly #files = new Map<string, KnownFile>()

  constructor(fs: FileSystem) {
    this.#fs = fs
  }

  /** Is the same as long as the roots and the files found there are, where that can be told. */
  async mark(roots: readonly string[]): Promise<string | undefined> {
    const files = roots.flatMap((root) => this.#roots.get(root)?.paths ?? [])
    const marks = await Promise.all([...roots, ...files].map((path) => this.#fs.fingerprint(path)))
    return marks.includes(undefined) ? undefined : marks.join('\n')
  }

  /** Of two skills with one name the one whose root stands first counts. */
  async find(roots: readonly string[], mayRead: MayRead): Promise<SkillSet> {
    const listed = await Promise.all(roots.map((root) => this.#list(root, mayRead)))
    const skills = new Map<string, Skill>()
    const problems: SkillProblem[] = []
    for (const found of await this.#read(listed.flat(), mayRead)) {
      const other = 'reason' in found ? undefined : skills.get(found.name)
      if ('reason' in found) problems.push(found)
      else if (other) problems.push({ path: found.path, reason: `${other.path} has its name` })
      else skills.set(found.name, found)
    }
    const byName = [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    return { skills: byName, problems }
  }

  /** Where the skills of a root may be: in folders of it, and files that lie in it. */
  async #list(root: string, mayRead: MayRead): Promise<readonly string[]> {
    const fingerprint = await this.#fs.fingerprint(root)
    if (fingerprint === '') return []
    const known = this.#roots.get(root)
    if (known && known.fingerprint === fingerprint) return known.paths
    const entries = await inspect(this.#fs, root, async (target) => {
      const isDirectory = mayRead(target.path) && (await target.stat())?.kind === 'directory'
      return isDirectory ? target.list() : []
    })
    const paths = (entries ?? []).flatMap(({ name, kind }) => {
      if (name.startsWith('.') || name.includes('\uFFFD') || kind === 'other') return []
      if (name.endsWith('.md')) return kind === 'directory' ? [] : [join(root, name)]
      return kind === 'file' ? [] : [join(root, name, 'SKILL.md')]
    })
    const kept = paths.slice(0, MAX_ENTRIES)
    if (fingerprint !== undefined) this.#roots.set(root, { fingerprint, paths: kept })
    return kept
  }

  async #read(paths: readonly string[], mayRead: MayRead): Promise<(Skill | SkillProblem)[]> {
    const marks = await Promise.all(paths.map((path) => this.#fs.fingerprint(path)))
    const found: (Skill | SkillProblem)[] = []
    for (let at = 0; at < paths.length; at += MAX_OPEN) {
      const some = paths.slice(at, at + MAX_OPEN)
      const read = some.map((path, index) => this.#readOne(path, marks[at + index], mayRead))
      for (const one of await Promise.all(read)) if (one) found.push(one)
    }
    return found
  }

  async #readOne(
    path: string,
    fingerprint: string | undefined,
    mayRead: MayRead,
  ): Promise<Skill | SkillProblem | undefined> {
    if (fingerprint === '') return undefined
    const known = this.#files.get(path)
    const same = known !== undefined && known.fingerprint === fingerprint
    const file = same ? known : await readHead(this.#fs, path, mayRead)
    if (file && fingerprint !== undefined) this.#files.set(path, { ...file, fingerprint })
    if (file && mayRead(file.real)) return file.found
    return { path, reason: 'it may not be read' }
  }
}

async function readHead(
  fs: FileSystem,
  path: string,
  mayRead: MayRead,
): Promise<Omit<KnownFile, 'fingerprint'> | undefined> {
  return inspect(fs, path, async (target) => {
    const real = target.path
    if (!mayRead(real)) return undefined
    const stat = await target.stat()
    if (stat?.kind !== 'file') return { real, found: { path, reason: 'it is not a file' } }
    const { bytes } = await target.read({ start: 0, end: MAX_HEAD_BYTES })
    const parsed = parseSkill(bytes)
    const found = 'problem' in parsed ? { path, reason: parsed.problem } : { ...parsed.head, path }
    return { real, found }
  })
}
