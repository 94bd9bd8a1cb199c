import { inspect, type FileSystem, type Target } from '@cordage/core/environment'
import { decodeText } from '@cordage/core/tool'
import { importsIn } from './imports-in.ts'

/** A text as it was read: where it really is, and what it names to be read with it. */
export interface ReadText {
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

export type WhyNot = 'missing' | 'outside of the project' | 'not readable' | 'not a text'

/** Says why a file must not be read that is really at `path`. */
export type Judge = (path: string) => WhyNot | undefined

/** Reads a file again only once it is another one: this is asked before every step. */
export interface Reader {
  /**
   * Those of `names`, which are always the same ones, that may be in a directory: to look at it is
   * cheaper than to look for each of them.
   */
  among(directory: string, names: readonly string[]): Promise<readonly string[]>
  read(path: string, judge: Judge): Promise<ReadText | WhyNot>
  /** With its links followed; as it is where nothing is there. Found out once. */
  real(path: string): Promise<string>
  isDirectory(path: string): Promise<boolean>
}

interface Known {
  readonly fingerprint: string
  readonly file: ReadText
}

interface KnownDirectory {
  readonly fingerprint: string
  readonly there: readonly string[]
}

const MAX_KNOWN = 1_000

/** One byte more than `maxBytes` are read of a file, so that it shows that there are more. */
export function createReader(fs: FileSystem, maxBytes: number): Reader {
  const files = new Map<string, Known>()
  const places = new Map<string, string>()
  const directories = new Map<string, KnownDirectory>()

  return {
    async among(directory, names) {
      const fingerprint = await fs.fingerprint(directory)
      if (fingerprint === '') return []
      if (fingerprint === undefined) return names
      const known = directories.get(directory)
      if (known?.fingerprint === fingerprint) return known.there
      const entries = await inspect(fs, directory, (target) => target.list())
      if (!entries) return names
      // There are systems for which another case is the same name.
      const listed = new Set(entries.map(({ name }) => name.toLowerCase()))
      const there = names.filter((name) => listed.has(name.toLowerCase()))
      if (directories.size >= MAX_KNOWN) directories.clear()
      directories.set(directory, { fingerprint, there })
      return there
    },
    async read(path, judge) {
      const fingerprint = await fs.fingerprint(path)
      if (fingerprint === '') return 'missing'
      const known = files.get(path)
      if (known && known.fingerprint === fingerprint) return judge(known.file.path) ?? known.file
      const file = await readText(fs, path, { judge, maxBytes })
      if (files.size >= MAX_KNOWN) files.clear()
      if (typeof file === 'object' && fingerprint !== undefined) {
        files.set(path, { fingerprint, file })
      }
      return file
    },
    async real(path) {
      const place = places.get(path) ?? (await resolve(fs, path))
      places.set(path, place)
      return place
    },
    async isDirectory(path) {
      return (
        (await inspect(fs, path, async (target) => (await target.stat())?.kind)) === 'directory'
      )
    },
  }
}

async function readText(
  fs: FileSystem,
  path: string,
  { judge, maxBytes }: { judge: Judge; maxBytes: number },
): Promise<ReadText | WhyNot> {
  const read = async (target: Target): Promise<ReadText | WhyNot> => {
    const why = judge(target.path)
    if (why) return why
    const stat = await target.stat()
    if (!stat) return 'missing'
    if (stat.kind !== 'file') return 'not a text'
    const { bytes } = await target.read({ start: 0, end: maxBytes + 1 })
    const text = decodeText(bytes)?.text
    return text === undefined ? 'not a text' : { path: target.path, text, imports: importsIn(text) }
  }
  return (await inspect(fs, path, read)) ?? 'not readable'
}

async function resolve(fs: FileSystem, path: string): Promise<string> {
  return (await inspect(fs, path, async (target) => target.path)) ?? path
}
