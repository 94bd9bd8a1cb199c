import { isAbsolute, sep } from 'node:path'
import { environmentError } from '@cordage/core/environment'

const MAX_LENGTH = 1000
const MAX_ALTERNATIVES = 256

type Test = (character: string) => boolean
/** `ANY` stands for any number of items. */
const ANY = Symbol('any')
type Segment = readonly (Test | typeof ANY)[]
type PathPattern = readonly (Segment | typeof ANY)[]

/**
 * Judges paths below `directory`, written with `/`: `*` and `?` within a name, `**` over names,
 * `[a-z]`, `[!a]`, `{a,b}`, `\` before a character of itself. `anywhere` lets a pattern without a
 * slash match a name at any depth. Throws `PATTERN_INVALID`.
 *
 * Not by a regular expression: a pattern comes from a model and names from a stranger's files, and
 * a dozen stars on a name of sixty characters keep one busy for minutes.
 */
export function compilePattern(
  pattern: string,
  directory: string,
  options: { anywhere: boolean },
): (path: string) => boolean {
  const invalid = (reason: string) => environmentError('PATTERN_INVALID', { pattern, reason })
  const inner = withinDirectory(pattern, directory)
  if (inner === '') throw invalid('it is empty.')
  if (inner.length > MAX_LENGTH) throw invalid(`it is longer than ${MAX_LENGTH} characters.`)
  const alternatives = expandBraces(inner)
  if (!alternatives) throw invalid(`it stands for more than ${MAX_ALTERNATIVES} patterns.`)
  const anywhere: PathPattern = [ANY]
  const compiled = alternatives.map((alternative): PathPattern => {
    if (alternative.split('/').includes('..')) throw invalid(`it leads out of ${directory}.`)
    if (isAbsolute(alternative)) throw invalid(`it is not below ${directory}.`)
    const path = compilePath(alternative)
    if (!path) throw invalid('a bracket is not closed.')
    return options.anywhere && !inner.includes('/') ? anywhere.concat(path) : path
  })
  return (path) => {
    const names = path.split('/').map((name) => Array.from(name))
    return compiled.some((pattern) => matchItems(pattern, names, matchName))
  }
}

/** Whether a part of `path` starts with a dot. */
export function isHidden(path: string): boolean {
  return path.startsWith('.') || path.includes('/.')
}

function matchName(segment: Segment, name: readonly string[]): boolean {
  return matchItems(segment, name, (test, character) => test(character))
}

/** Only the last `ANY` before a mismatch needs to take more, so this never branches. */
function matchItems<Part, Item>(
  pattern: readonly (Part | typeof ANY)[],
  items: readonly Item[],
  matches: (part: Part, item: Item) => boolean,
): boolean {
  let [at, index] = [0, 0]
  let [retryAt, retryIndex] = [-1, -1]
  while (index < items.length) {
    const part = pattern[at]
    const item = items[index]
    if (part === ANY) {
      retryAt = ++at
      retryIndex = index
    } else if (part !== undefined && item !== undefined && matches(part, item)) {
      at++
      index++
    } else if (retryAt >= 0) {
      at = retryAt
      index = ++retryIndex
    } else return false
  }
  return pattern.slice(at).every((part) => part === ANY)
}

function withinDirectory(pattern: string, directory: string): string {
  const slashed = directory.replaceAll(sep, '/')
  const prefix = slashed.endsWith('/') ? slashed : `${slashed}/`
  if (pattern.startsWith(prefix)) return pattern.slice(prefix.length)
  return pattern.replace(/^\.\//, '')
}

/** `a{b,c}d` as `abd` and `acd`; undefined for too many. */
function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = findGroup(next)
    if (group) open.push(...group)
    else done.push(next)
    if (done.length + open.length > MAX_ALTERNATIVES) return undefined
  }
  return done
}

/** What `pattern` becomes with each alternative of its first group. */
function findGroup(pattern: string): string[] | undefined {
  const start = indexOutside(pattern, '{', 0)
  if (start < 0) return undefined
  const commas: number[] = []
  for (let at = start + 1, depth = 0; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === '\\') at++
    else if (character === '{') depth++
    else if (character === ',' && depth === 0) commas.push(at)
    else if (character === '}' && depth-- === 0) {
      const cuts = [start, ...commas, at]
      const [before, after] = [pattern.slice(0, start), pattern.slice(at + 1)]
      return cuts.slice(1).map((cut, n) => before + pattern.slice((cuts[n] ?? 0) + 1, cut) + after)
    }
  }
  return undefined
}

function indexOutside(pattern: string, character: string, from: number): number {
  for (let at = from; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++
    else if (pattern[at] === character) return at
  }
  return -1
}

function compilePath(pattern: string): PathPattern | undefined {
  const segments = pattern.split('/').filter((name) => name !== '.')
  const compiled = segments.map((name) => (name === '**' ? ANY : compileSegment(name)))
  // Paths are of files: `a/**` is what is below `a`, not `a`.
  if (segments.at(-1) === '**') compiled.push([ANY])
  return compiled.every((segment) => segment !== undefined) ? compiled : undefined
}

function compileSegment(text: string): Segment | undefined {
  const parts: (Test | typeof ANY)[] = []
  const characters = Array.from(text)
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]
    if (character === '*') parts.push(ANY)
    else if (character === '?') parts.push(() => true)
    else if (character === '[') {
      const end = characters.indexOf(']', at + 2 + (/[!^]/.test(characters[at + 1] ?? '') ? 1 : 0))
      if (end < 0) return undefined
      parts.push(compileClass(characters.slice(at + 1, end)))
      at = end
    } else {
      const literal = character === '\\' ? (characters[++at] ?? '\\') : character
      parts.push((other) => other === literal)
    }
  }
  return parts
}

function compileClass(characters: readonly string[]): Test {
  const negated = characters[0] === '!' || characters[0] === '^'
  const ranges: [string, string][] = []
  for (let at = negated ? 1 : 0; at < characters.length; at++) {
    const first = characters[at] ?? ''
    const last = characters[at + 1] === '-' ? characters[at + 2] : undefined
    ranges.push([first, last ?? first])
    if (last !== undefined) at += 2
  }
  return (character) => {
    return negated !== ranges.some(([first, last]) => first <= character && character <= last)
  }
}
