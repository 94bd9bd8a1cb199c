import { dirname, join, relative, sep } from 'node:path'
import { inspect, type FileSystem } from '@cordage/core/environment'
import { contains } from '@cordage/core/policy'
import { decodeText } from '@cordage/core/tool'
import type { Ignore } from 'ignore'

/** The earlier one wins, at whatever depth it lies, as for the tools that search. */
const NAMES = ['.rgignore', '.ignore', '.gitignore']
const MAX_BYTES = 256 * 1024

/** Whether the ignore files of a project hide a path of it, or a directory above that. */
export type IsIgnored = (path: string, kind: 'file' | 'directory') => Promise<boolean>

/** Each ignore file is read once; `project` and the paths are resolved. */
export function createIgnored(fs: FileSystem, project: string): IsIgnored {
  const known = new Map<string, Promise<Ignore>>()
  const rulesIn = (file: string) => {
    const rules = known.get(file) ?? readRules(fs, file)
    known.set(file, rules)
    return rules
  }
  /** Of each kind of file the nearest one that says something about the path decides. */
  const isHidden = async (path: string, suffix: '' | '/') => {
    for (const name of NAMES) {
      for (const directory of directoriesAbove(path, project)) {
        const inner = relative(directory, path).split(sep).join('/') + suffix
        const { ignored, unignored } = (await rulesIn(join(directory, name))).test(inner)
        if (ignored || unignored) return ignored
      }
    }
    return false
  }
  return async (path, kind) => {
    if (!contains(project, path) || path === project) return false
    if (relative(project, path).split(sep).includes('.git')) return true
    for (const directory of directoriesAbove(path, project)) {
      if (directory !== project && (await isHidden(directory, '/'))) return true
    }
    return isHidden(path, kind === 'directory' ? '/' : '')
  }
}

/** The nearest first, the last one is the project. */
function directoriesAbove(path: string, project: string): string[] {
  const parent = dirname(path)
  return parent === project ? [parent] : [parent, ...directoriesAbove(parent, project)]
}

async function readRules(fs: FileSystem, file: string): Promise<Ignore> {
  const read = await inspect(fs, file, (target) => target.read({ start: 0, end: MAX_BYTES }))
  const text = read && decodeText(read.bytes)?.text
  // Only who names a file pays for it.
  const { default: ignore } = await import('ignore')
  const rules = ignore({ ignorecase: false })
  return text === undefined ? rules : rules.add(text)
}
