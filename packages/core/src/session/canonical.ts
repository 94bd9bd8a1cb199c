import { createHash } from 'node:crypto'

/** JSON with the members of every object in one fixed order: equal data, equal text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    const entries = Object.entries(member)
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** SHA-256 (hex) of a text. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
