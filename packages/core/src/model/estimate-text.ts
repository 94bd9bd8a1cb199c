/**
 * Pieces as byte-pair tokenizers cut a text before they look anything up: no token crosses their
 * borders.
 */
const PIECES: readonly RegExp[] = [
  // One mark over and over, and what may be encoded bytes.
  /([!-/:-@[-`{-~\t-\r ])\1{7,}/,
  /[\w+/=-]{16,}/,
  // A word with what stands before it, numbers, and runs of other scripts.
  /[!-/:-@[-`{-~\t ]?(?:[A-Z]*[a-zÀ-ɏḀ-ỿ]+|[A-Z]+)/,
  /\d{1,3}/,
  / ?[^\0-\x7fÀ-ɏḀ-ỿ]+/,
  // Marks, space, and what is left.
  / ?[!-/:-@[-`{-~]+[\r\n]*/,
  /[\t-\r ]+/,
  /[^]/,
]
const PIECE = new RegExp(PIECES.map(({ source }) => source).join('|'), 'g')
/** The same of a run that is no encoded bytes. */
const PART = /[\W_]?(?:[A-Z]*[a-z]+|[A-Z]+)|\d{1,3}|[\W_]+/g

/** Where what may be encoded bytes turns from one kind of character to another. */
const TURN = /[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g
/** Names and paths turn less often. */
const MAX_CHARS_PER_TURN = 4
/** Short words, of which vocabularies have most. */
const VIETNAMESE = /[đơưĐƠƯẠ-ỹ]/
/** No word that a vocabulary would have. */
const CLUSTER = /[bcdfghjklmnpqrstvwxz]{5}/i

interface Script {
  readonly first: number
  readonly last: number
  /** Of one character. */
  readonly weight: number
  /** More, where a run of the script begins. */
  readonly start: number
}

const SCRIPTS: readonly Script[] = [
  [0x7f, 0, 0], // The space in front
  [0xbf, 1.2, 0], // Marks of Latin-1
  [0x36f, 1, 0],
  [0x3ff, 0.3, 0.5], // Greek
  [0x52f, 0.17, 0.5], // Cyrillic
  [0x5ff, 0.33, 0.5], // Armenian, Hebrew
  [0x6ff, 0.24, 0.5], // Arabic
  [0x8ff, 1, 0],
  [0xdff, 0.33, 0.2], // Scripts of India
  [0xeff, 0.38, 0.2], // Thai, Lao
  [0x1dff, 2, 0],
  [0x1fff, 0.8, 0], // Old Greek
  [0x206f, 1, 0], // Dashes, quotation marks
  [0x2bff, 1, 0], // Arrows, mathematics, boxes
  [0x2fff, 3, 0],
  [0x303f, 0.8, 0],
  [0x30ff, 0.62, 0.15], // Kana
  [0x4dff, 2.5, 0],
  [0x9fff, 0.72, 0.25], // Han
  [0xabff, 2.5, 0],
  [0xd7ff, 0.6, 0.35], // Hangul
  [0xf8ff, 3, 0],
  [0xffff, 1, 0], // Full width
  [0x1f2ff, 3.8, 0],
  [0x1faff, 1.3, 0], // Pictures
  [0x10ffff, 4, 0],
].map(([last = 0, weight = 0, start = 0], at, all) => {
  return { first: (all[at - 1]?.[0] ?? -1) + 1, last, weight, start }
})

/**
 * Estimated tokens of a text by its scripts, in one pass and without a vocabulary. The weights are
 * tokens, fitted to o200k, whose vocabulary is like those of other current models.
 */
export function estimateText(text: string): number {
  let tokens = 0
  PIECE.lastIndex = 0
  for (let found = PIECE.exec(text); found; found = PIECE.exec(text)) {
    const [piece, repeated] = found
    tokens += repeated === undefined ? estimatePiece(piece) : estimateRun(piece)
  }
  return Math.ceil(tokens)
}

/** Runs of spaces and rules are in every vocabulary, those of lines and tabs in few lengths. */
function estimateRun(piece: string): number {
  return piece < ' ' ? estimateSpace(piece) + 1 : 2 + piece.length / 64
}

const estimateSpace = ({ length }: string) => 1 + length / 16

function estimatePiece(piece: string): number {
  const last = piece.charCodeAt(piece.length - 1)
  if (last > 0x7f && !isAccented(last)) return estimateScripts(piece)
  if (piece.length >= 16 && /^[\w+/=-]+$/.test(piece)) return estimateEncodable(piece)
  return estimatePart(piece, last)
}

/** Names, paths and rules are read part by part; encoded bytes have nothing to read. */
function estimateEncodable(piece: string): number {
  const turns = piece.match(TURN)?.length ?? 0
  if (turns * MAX_CHARS_PER_TURN >= piece.length) {
    return piece.length * (/[g-z]/i.test(piece) ? 0.7 : 0.6)
  }
  const parts = piece.match(PART) ?? []
  return parts.reduce((sum, part) => sum + estimatePart(part, part.charCodeAt(part.length - 1)), 0)
}

function estimatePart(part: string, last: number): number {
  if (isLetter(last)) return estimateWord(part)
  if (/^[\t-\r ]*$/.test(part)) return estimateSpace(part)
  if (part.length < 4 || (last >= 0x30 && last <= 0x39)) return 1
  const lines = /[\r\n]+$/.exec(part)?.[0] ?? ''
  return 1 + Math.max(0, part.length - lines.length - 3) * 0.4 + lines.length / 8
}

/** Usual words are one token, with what stands before them. */
function estimateWord(word: string): number {
  const { length } = word
  const accented = word.match(/[À-ɏḀ-ỿ]/g)?.length ?? 0
  // Words of accented letters alone are none, and each letter is a token.
  const isNone = accented * 2 > length && length > 3
  const accents = accented * (isNone ? 1 : VIETNAMESE.test(word) ? 0.05 : 0.4)
  if (length > 24 || CLUSTER.test(word)) return length / 2 + accents
  const capitals = word.charCodeAt(2) < 0x61 ? 0.2 * length - 0.4 : 0
  // A mark in front is a token of its own with rarer words.
  const mark = /^[^A-Za-z À-ɏ]/.test(word) ? 0.2 : 0
  return 1.02 + Math.max(0, capitals, (length - 7) * 0.15) + accents + mark
}

function estimateScripts(piece: string): number {
  let tokens = 0
  let script: Script | undefined
  let previous = -1
  for (const character of piece) {
    const code = character.codePointAt(0) as number
    const within = script && code >= script.first && code <= script.last
    const own = within ? script : SCRIPTS.find(({ last }) => code <= last)
    // The same character again makes no word of any language.
    const weight = own?.weight ?? 4
    tokens += code === previous ? Math.max(1, weight) : weight
    if (!within) tokens += own?.start ?? 0
    script = own
    previous = code
  }
  return tokens
}

const isAccented = (code: number) => {
  return (code >= 0xc0 && code <= 0x24f) || (code >= 0x1e00 && code <= 0x1eff)
}
const isLetter = (code: number) => {
  return ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) || isAccented(code)
}
