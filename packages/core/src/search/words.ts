/**
 * Words as the index has them, the same for what is indexed and for what is asked.
 *
 * A word is a run of letters and digits without case and diacritics; `parseConfig` is the words
 * `parse` and `config`, and `parseconfig` aside. Scripts that set no spaces between words are cut
 * into pairs of characters, `数据库` into `数据 据库 库`: any two in a row are found, and one alone by
 * the pairs that begin with it. An emoji is a word of its own.
 */
export interface Word {
  readonly text: string
  /** Where it stands in the text, in UTF-16 units. */
  readonly at: number
  readonly end: number
  /** The identifier in one that it is the first part of. */
  readonly whole?: string
  /** The last character of a run of pairs. */
  readonly last?: boolean
}

const runs = /[\p{L}\p{N}\p{M}\p{Co}]+|\p{RI}{2}|\p{Extended_Pictographic}/gu

const spaceless = [
  'Han',
  'Hira',
  'Kana',
  'Hang',
  'Bopo',
  'Yi',
  'Thai',
  'Lao',
  'Khmr',
  'Mymr',
  'Tibt',
]
// Variation selectors stand within words, and change none.
const selectors = String.raw`\uFE00-\uFE0F\u{E0100}-\u{E01EF}`
// Marks of length and voice are common to the two scripts of Japanese.
const kanaMarks = String.raw`\u30FC\uFF70\u3099\u309A\uFF9E\uFF9F`
const paired =
  spaceless.map((script) => String.raw`\p{Script=${script}}`).join('') + kanaMarks + selectors
const pieces = new RegExp(`([${paired}]+)|[^${paired}]+`, 'gu')

const camel = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
/** What is longer is no name that anybody gave, but data. */
const maxNameLength = 64

export function* wordsIn(text: string): Generator<Word> {
  for (const run of text.matchAll(runs)) {
    if (isPlain(run[0])) {
      yield* namesIn(run[0], run.index)
      continue
    }
    for (const piece of run[0].matchAll(pieces)) {
      const at = run.index + piece.index
      if (piece[1] === undefined) yield* namesIn(piece[0], at)
      else yield* pairsIn(piece[0], at)
    }
  }
}

function isPlain(text: string): boolean {
  return /^[a-zA-Z0-9]*$/.test(text)
}

function* namesIn(text: string, from: number): Generator<Word> {
  const parts = text.length > maxNameLength ? [text] : text.split(camel)
  const whole = parts.length > 1 ? { whole: fold(text) } : {}
  let at = from
  for (const [index, part] of parts.entries()) {
    const word = fold(part)
    const end = at + part.length
    if (word !== '') yield { text: word, at, end, ...(index === 0 ? whole : {}) }
    at = end
  }
}

function* pairsIn(text: string, from: number): Generator<Word> {
  const folded = fold(text)
  const characters = [...folded]
  let at = from
  for (const [index, character] of characters.entries()) {
    const after = characters[index + 1]
    // Where folding has changed the length, the place is a little off: it is only shown around.
    const end = at + character.length + (after?.length ?? 0)
    if (after === undefined) yield { text: character, at, end, last: true }
    else yield { text: character + after, at, end }
    at += character.length
  }
}

const marks = /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]\p{Mn}*)\p{Mn}/gu
const noWord = new RegExp(
  String.raw`[^\p{L}\p{N}\p{M}\p{Co}\p{RI}\p{Extended_Pictographic}]|[${selectors}]`,
  'gu',
)

/** A word without case, diacritics and widths; nothing where only marks are left of it. */
function fold(word: string): string {
  if (isPlain(word)) return word.toLowerCase()
  const lower = word.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
  const bare = lower.normalize('NFD').replaceAll(marks, '').normalize('NFC')
  const clean = bare.replaceAll(noWord, '')
  return /[^\p{M}]/u.test(clean) ? clean : ''
}

/** What is put into the index of a text. */
export interface IndexedWords {
  readonly words: string
  /** Identifiers in one. */
  readonly wholes: string
}

export function indexedWords(text: string): IndexedWords {
  const words: string[] = []
  const wholes: string[] = []
  for (const word of wordsIn(text)) {
    words.push(word.text)
    if (word.whole !== undefined) wholes.push(word.whole)
  }
  return { words: words.join(' '), wholes: wholes.join(' ') }
}
