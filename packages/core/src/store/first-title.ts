const MAX_CHARS = 60
/** Nobody's title lies further in than this. */
const LOOKED_AT = 4_096
const PASTED = [/^```[^\n]*\n[^]*?^```$/gm, /^<([a-z][\w-]*)[^>\n]*>\n[^]*?\n<\/\1>$/gim]
const NAMED_SECRET =
  /(?<name>pass(?:word|wd|phrase)?|secret|token|api[ _-]?key|密码|口令|密钥)(?<is>\s*(?:[:=：是为]+|\b(?:is|are)\b)\s*)\S+/giu
const KEY = /[\w+=-]{20,}/g

/**
 * The first words of what a person typed, as a title of one line of at most 60 characters, whole
 * words where there are any: without what was pasted, if anything is left then, and without what
 * looks like a secret.
 */
export function firstTitle(text: string): string {
  const begin = text.slice(0, LOOKED_AT).toWellFormed()
  const own = oneLine(PASTED.reduce((rest, pasted) => rest.replaceAll(pasted, ' '), begin))
  const shown = (own === '' ? oneLine(begin) : own)
    .replaceAll(NAMED_SECRET, '$<name>$<is>…')
    .replaceAll(KEY, (word) => (looksRandom(word) ? '…' : word))
  return cut(shown)
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** Letters among digits, as no word has them. */
function looksRandom(word: string): boolean {
  return /[a-z]/i.test(word) && (word.match(/\d/g)?.length ?? 0) >= 3
}

function cut(line: string): string {
  const chars = [...line]
  if (chars.length <= MAX_CHARS) return line
  const begin = chars.slice(0, MAX_CHARS - 1).join('')
  // The word that the cut goes through is left out, unless it is most of the line.
  const space = chars[MAX_CHARS - 1] === ' ' ? -1 : begin.lastIndexOf(' ')
  const words = space > begin.length / 2 ? begin.slice(0, space) : begin
  return `${words.replace(/[\s\p{P}\p{M}\u200d]+$/u, '')}…`
}
