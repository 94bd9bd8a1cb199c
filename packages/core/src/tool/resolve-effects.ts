import path from 'node:path'
import type { FileSystem } from '../environment/index.ts'
import { canonicalEffect, type Effect } from '../policy/index.ts'

/**
 * What a tool declared from its arguments, as it will really be: links followed, so that a person
 * is asked about the file that would be touched and not about the name a model gave it.
 */
export async function resolveEffects(
  fs: FileSystem | undefined,
  declared: readonly Effect[],
  cwd: string,
): Promise<Effect[]> {
  return Promise.all(
    declared.map(async (effect): Promise<Effect> => {
      if ('path' in effect) {
        return { ...effect, path: await realPath(fs, path.resolve(cwd, effect.path)) }
      }
      if (effect.kind === 'process') {
        return { ...effect, cwd: await realPath(fs, path.resolve(cwd, effect.cwd)) }
      }
      return canonicalEffect(effect) ?? effect
    }),
  )
}

/** Follows what is there; parts that do not exist yet stay as they are named. */
async function realPath(fs: FileSystem | undefined, file: string): Promise<string> {
  if (!fs) return file
  const missing: string[] = []
  for (let at = file; ; at = path.dirname(at)) {
    try {
      await using target = await fs.target(at)
      return path.join(target.path, ...missing)
    } catch {
      // Not there, or not reachable: the body will say so, and is decided on what it reaches.
      if (path.dirname(at) === at) return file
      missing.unshift(path.basename(at))
    }
  }
}
