/** The tag of what the harness itself says inside a tool result. */
export const NOTE_TAG = 'harness-note'

/**
 * `text` between `<tag attributes>` and `</tag>`, each on a line of its own. Whatever in the text
 * could be taken for the closing tag is escaped.
 */
export function frame(
  tag: string,
  attributes: Readonly<Record<string, string | number | boolean | undefined>>,
  text: string,
): string {
  const body = text.replaceAll(opening(tag, '', '(?![\\w-])'), '&lt;')
  return `<${tag}${printAttributes(attributes)}>\n${body}\n</${tag}>`
}

/** What the harness says about a result: `escapeNotes` keeps tools from saying it. */
export function note(attributes: Record<string, string | number>, text: string): string {
  return frame(NOTE_TAG, attributes, text)
}

/** `text` in which nothing can be taken for a note of the harness. */
export function escapeNotes(text: string): string {
  return escapeTag(text, NOTE_TAG)
}

/** `text` in which nothing can be taken for the opening or the closing tag of a frame `tag`. */
export function escapeTag(text: string, tag: string): string {
  return text.replaceAll(opening(tag, '?', ''), '&lt;')
}

/** Finds the `<` of a tag, whatever the width, the case and the invisible characters in it. */
function opening(tag: string, slash: '' | '?', end: string): RegExp {
  const letters = [...tag].map((letter) => `[${letter}${wide(letter)}]`).join('\\p{Cf}*')
  const gap = '[\\s\\p{Cf}]*'
  return new RegExp(`[<＜﹤](?=${gap}[/／∕⁄]${slash}${gap}${letters}${end})`, 'giu')
}

/** The full-width form of an ASCII character. */
function wide(letter: string): string {
  return String.fromCharCode(letter.charCodeAt(0) + 0xfee0)
}

/** A file name on one line: as it is, or like a JSON string where it could forge a line. */
export function escapeFileName(name: string): string {
  // oxlint-disable-next-line no-control-regex
  const unsafe = /[\u0000-\u001f\u007f-\u009f"\u2028-\u202e\u2066-\u2069\uFEFF]|^\s|\s$/
  if (!unsafe.test(name) && name.isWellFormed()) return name
  // oxlint-disable-next-line no-control-regex
  const invisible = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069\uFEFF]/g
  return JSON.stringify(name).replace(invisible, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function printAttributes(
  attributes: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${JSON.stringify(String(value)).replaceAll('<', '&lt;')}`)
    .join('')
}
