/** What people copy together with a key, and why it cannot go out. The key is never told. */
const wrongs: readonly (readonly [RegExp, string])[] = [
  [/^["'`\u2018\u201c]|["'`\u2019\u201d]$/, 'is in quotes: leave them out'],
  [/^bearer\s/i, 'begins with "Bearer", which is added: leave it out'],
  [/^(authorization|x-api-key)\s*:/i, 'begins with the name of a header: leave it out'],
  [/^(export\s+)?\w*(key|token|secret)\s*=/i, 'begins with a name and "=": give what follows'],
  [/[^\x21-\x7e]/, 'has a space, a line break or a character in it that no header takes'],
]

/** Why a text cannot be a key, or nothing. */
export function wrongInKey(key: string): string | undefined {
  return wrongs.find(([pattern]) => pattern.test(key))?.[1]
}
