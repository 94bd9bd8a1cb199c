import { wordsIn, type Term, type Word } from '@cordage/core/search'

const before = 60
const after = 140

/** The first place of a text where one of the terms stands, and what is around it, on one line. */
export function snippetOf(text: string, terms: readonly Term[]): string {
  const { at, end } = placeOf(text, terms)
  const from = Math.max(0, at - before)
  const to = Math.min(text.length, Math.max(at + after, Math.min(end, at + 2 * after)))
  const part = inside(text.slice(from, to)).replaceAll(/\s+/gu, ' ').trim()
  return `${from > 0 ? '…' : ''}${part}${to < text.length ? '…' : ''}`
}

function placeOf(text: string, terms: readonly Term[]): { at: number; end: number } {
  const longest = Math.max(1, ...terms.map(({ words }) => words.length))
  const seen: Word[] = []
  for (const word of wordsIn(text)) {
    seen.push(word)
    if (seen.length > longest) seen.shift()
    for (const term of terms) {
      const begin = seen.at(-term.words.length)
      if (begin && stands(term, seen.slice(-term.words.length))) {
        return { at: begin.at, end: word.end }
      }
      if (isName(term, word)) return word
    }
  }
  return { at: 0, end: 0 }
}

function stands({ words, open }: Term, found: readonly Word[]): boolean {
  return words.every((asked, index) => {
    return isWord(found[index]?.text ?? '', asked, open && index === words.length - 1)
  })
}

/** Whether one of the two is the other one written in one. */
function isName({ words, whole, open }: Term, word: Word): boolean {
  const asked = whole ?? (words.length === 1 ? words[0] : undefined)
  if (asked === undefined) return false
  return [word.text, word.whole ?? ''].some((text) => isWord(text, asked, open))
}

function isWord(text: string, asked: string, open: boolean): boolean {
  return open ? text.startsWith(asked) : text === asked
}

/** Without the halves of characters that cutting has left at its ends. */
function inside(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '')
}
