import { linesOf, samples } from './import-fixture.ts'

/** Those of a line for each record. */
const transcripts = [
  ['claude-code', samples.claude],
  ['codex', samples.codex],
  ['codex', samples.oldCodex],
  ['pi', samples.pi],
  ['dsh', samples.dsh],
] as const

/** Each transcript as its lines. */
export const sources = await Promise.all(
  transcripts.map(async ([from, path]) => ({ from, lines: await linesOf(path) })),
)

/** Records that no text can be made of: `String` calls what they name so. */
export const unreadable = [{ toString: null, valueOf: null }, [{ toString: 1, valueOf: 1 }]]

/** Puts `value` in the place of a member of `record`, any number of levels down. */
export function disturbed(record: unknown, path: readonly number[], value: unknown): unknown {
  const [at = 0, ...rest] = path
  if (path.length === 0 || typeof record !== 'object' || record === null) return value
  const keys = Object.keys(record)
  if (keys.length === 0) return value
  const key = keys[at % keys.length] ?? ''
  const member = disturbed((record as Record<string, unknown>)[key], rest, value)
  return Array.isArray(record) ? record.with(Number(key), member) : { ...record, [key]: member }
}

/** Where each member of `record` is, as `disturbed` takes it. */
export function placesIn(record: unknown): number[][] {
  if (typeof record !== 'object' || record === null) return []
  return Object.values(record).flatMap((member, at) => {
    return [[at], ...placesIn(member).map((place) => [at, ...place])]
  })
}
