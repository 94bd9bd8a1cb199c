import { wordsIn } from './words.ts'

/** Words that stand one after the other: a single one, a phrase, or an identifier. */
export interface Term {
  readonly words: readonly string[]
  /** Whether the last one may go on. */
  readonly open: boolean
  /** Another way to write it: an identifier in one. */
  readonly whole?: string
}

/** What a person asks for; all of it has to be there. Nothing in it is anything but words. */
export function termsOf(text: string): Term[] {
  const asked = text.matchAll(/"([^"]*)"|([^\s"]+)/g)
  return [...asked].flatMap(([, phrase, word]) => termOf(phrase ?? word ?? '') ?? [])
}

function termOf(text: string): Term | undefined {
  const found = [...wordsIn(text)]
  const last = found.at(-1)
  if (!last) return undefined
  // A run of pairs may go on behind what was asked for, so that its last character says nothing.
  const inRun = last.last === true && found.at(-2)?.end === last.end
  const words = (inRun ? found.slice(0, -1) : found).map((word) => word.text)
  const open = (last.last === true && !inRun) || (last.last !== true && text.endsWith('*'))
  // Of an identifier that is all there is, the first part knows the whole.
  const whole = found[0]?.whole
  const isName = whole !== undefined && whole === words.join('')
  return { words, open, ...(isName ? { whole } : {}) }
}

/**
 * The terms in the language of FTS5, for a table of `words` and `wholes`. Words hold letters and
 * digits only, so nothing needs escaping.
 */
export function matchOf(terms: readonly Term[], joined: 'AND' | 'OR' = 'AND'): string {
  return terms.map(matchOfTerm).join(` ${joined} `)
}

function matchOfTerm({ words, open, whole }: Term): string {
  const begin = open ? '*' : ''
  const [first = ''] = words
  // Identifiers in one stand beside each other by chance: no phrase is sought among them.
  const phrase = words.length > 1 ? `words : "${words.join(' ')}"${begin}` : `"${first}"${begin}`
  return whole === undefined ? phrase : `(${phrase} OR "${whole}"${begin})`
}
