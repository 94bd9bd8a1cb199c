import path from 'node:path'
import type { FileSystem, SearchResult, Target } from '../environment/index.ts'
import type { Gate } from './gate.ts'
import { tolerate } from './tolerate.ts'
import type { RunFiles } from './tool.ts'

export interface RunFilesOptions {
  readonly fs: () => FileSystem
  readonly gate: Gate
  readonly cwd: string
  readonly signal: AbortSignal
  /** Targets that the body has not released. */
  readonly open: Set<Target>
  readonly change: MakeChange
}

/** Makes one change of a file by way of whoever wants to know of it first. */
export type MakeChange = <T>(target: Target, change: Change<T>) => Promise<T>

export interface Change<T> {
  /** Absent where the file is removed. */
  readonly bytes?: Uint8Array
  readonly make: () => Promise<T>
}

/** Files of one call: what a path resolves to is decided, and again at each use of it. */
export function createRunFiles(options: RunFilesOptions): RunFiles {
  const { fs, gate, cwd, signal, open } = options
  const resolve = (given: string) => path.resolve(cwd, given)

  const hold = async (kind: 'fs:read' | 'fs:write', target: Target): Promise<Target> => {
    try {
      gate.check({ kind, path: target.path })
    } catch (error) {
      await target[Symbol.asyncDispose]()
      throw error
    }
    open.add(target)
    return bindTarget(target, options)
  }
  const forRead = async (given: string) => hold('fs:read', await fs().target(resolve(given)))

  return {
    get guarantee() {
      return fs().guarantee
    },
    resolve,
    forRead,
    forWrite: async (given, { parents = false } = {}) => {
      const make = parents ? { parents: (directory: string) => gate.checkParent(directory) } : {}
      return hold('fs:write', await fs().target(resolve(given), make))
    },
    glob: async (directory, query) => {
      await using target = await forRead(directory)
      return visible(gate, await fs().glob(target.path, query, signal))
    },
    grep: async (given, query) => {
      await using target = await forRead(given)
      return visible(gate, await fs().grep(target.path, query, signal))
    },
  }
}

function bindTarget(target: Target, { gate, open, change }: RunFilesOptions): Target {
  const reading = () => gate.check({ kind: 'fs:read', path: target.path })
  const writing = () => gate.check({ kind: 'fs:write', path: target.path })
  // Decided on once more when everybody knows: the call may have ended meanwhile.
  const changing = <T>({ make, ...what }: Change<T>) => {
    return use(writing, () => change(target, { ...what, make: () => use(writing, make) }))
  }
  return {
    path: target.path,
    stat: () => use(reading, () => target.stat()),
    read: (range) => use(reading, () => target.read(range)),
    list: () => use(reading, () => target.list()),
    write: (bytes, options) => changing({ bytes, make: () => target.write(bytes, options) }),
    remove: () => changing({ make: () => target.remove() }),
    [Symbol.asyncDispose]: async () => {
      open.delete(target)
      await target[Symbol.asyncDispose]()
    },
  }
}

function use<T>(check: () => void, action: () => Promise<T>): Promise<T> {
  const task = async () => {
    check()
    return action()
  }
  return tolerate(task())
}

/** Hits in files that may not be read are left out, and that they are is said. */
function visible<Item extends { path: string }>(
  gate: Gate,
  { items, incomplete }: SearchResult<Item>,
): SearchResult<Item> {
  const decided = new Map<string, boolean>()
  const lets = (file: string) => {
    const known = decided.get(file) ?? gate.lets({ kind: 'fs:read', path: file })
    decided.set(file, known)
    return known
  }
  const shown = items.filter((item) => lets(item.path))
  if (shown.length === items.length) return { items, incomplete }
  return { items: shown, incomplete: [...incomplete, 'files that may not be read are left out'] }
}
