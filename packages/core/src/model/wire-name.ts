import { createHash } from 'node:crypto'

/** What every protocol takes as the name of a tool. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/
const MAX_KEPT = 55

/**
 * The name of a tool on the wire: the name itself where every protocol takes it, else its beginning
 * without what they refuse, and eight letters that tell it from others. Models make up names that
 * no server takes back, and tools of other servers come with any.
 */
export function wireName(name: string): string {
  if (NAME.test(name)) return name
  const kept = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_KEPT)
  return `${kept}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}

/** The names of tools that are others on the wire, by those. */
export function namesOnWire(tools: readonly { readonly name: string }[]): Map<string, string> {
  const others = tools.filter(({ name }) => wireName(name) !== name)
  return new Map(others.map(({ name }) => [wireName(name), name]))
}
