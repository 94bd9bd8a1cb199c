/** Colours and the like, which mean nothing outside of a terminal. */
// oxlint-disable-next-line no-control-regex
const styling = /\u001B\[[\d;:]*m/g

/** Characters that can make a text look like another one, or end it, and carry no words. */
const hidden =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g

/**
 * What a log says as text that any reader shows alike: line ends as `\n`, control characters as
 * pictures, marks of direction and separators by their number, halves of characters replaced.
 */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(styling, '')
    .replaceAll(hidden, pictureOf)
    .toWellFormed()
}

function pictureOf(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
}

/** The same on one line of at most `max` characters. */
export function visibleLine(text: string, max: number): string {
  // Cut before it is read: a title needs no megabyte.
  const line = visibleText(text.slice(0, max * 4))
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line
}
