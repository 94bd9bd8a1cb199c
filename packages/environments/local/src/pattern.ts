import { isAbsolute, sep } from 'node:path'
import picomatch from 'picomatch'
import { environmentError } from '@cordage/core/environment'

const MAX_LENGTH = 500
const MAX_STARS = 12

/**
 * Judges paths below `directory`, written with `/`. `anywhere` lets a pattern without a slash
 * match a name at any depth. Throws `PATTERN_INVALID`.
 */
export function compilePattern(
  pattern: string,
  directory: string,
  options: { anywhere: boolean },
): (path: string) => boolean {
  const invalid = (reason: string) => environmentError('PATTERN_INVALID', { pattern, reason })
  const inner = withinDirectory(pattern, directory)
  if (inner === '') throw invalid('it is empty.')
  if (inner.split('/').includes('..')) throw invalid(`it leads out of ${directory}.`)
  if (isAbsolute(inner)) throw invalid(`it is not below ${directory}.`)
  // The time that a failing match takes grows with a power of the number of stars.
  const stars = inner.match(/\*+/g)?.length ?? 0
  if (inner.length > MAX_LENGTH || stars > MAX_STARS) throw invalid('it is too complicated.')
  const basename = options.anywhere && !inner.includes('/')
  try {
    return picomatch(inner, { dot: true, noextglob: true, basename, strictBrackets: true })
  } catch (error) {
    throw invalid(error instanceof Error ? `${error.message}.` : 'it cannot be read.')
  }
}

/** Whether a part of `path` starts with a dot. */
export function isHidden(path: string): boolean {
  return path.startsWith('.') || path.includes('/.')
}

function withinDirectory(pattern: string, directory: string): string {
  const slashed = directory.replaceAll(sep, '/')
  const prefix = slashed.endsWith('/') ? slashed : `${slashed}/`
  if (pattern.startsWith(prefix)) return pattern.slice(prefix.length)
  return pattern.replace(/^\.\//, '')
}
