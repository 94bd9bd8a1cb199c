import { visibleText } from './visible-text.ts'

/** A code block whose fence is longer than any run of backticks in it. */
export function fenced(text: string, language = ''): string {
  const shown = visibleText(text)
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${shown.replace(/\n$/, '')}\n${fence}\n`
}

/** Words in a line of our own: nothing in them is markup. */
export function plainWords(text: string): string {
  return visibleText(text)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_[\]<>#|~&!]/g, '\\$&')
}

export function quoted(text: string): string {
  return text.replaceAll(/^/gm, '> ')
}

const fence = /^ {0,3}(`{3,}(?!.*`)|~{3,})(.*)$/

/**
 * Markdown that somebody else wrote, in the place of a paragraph of ours: it makes no heading that
 * could pass for one of ours, no HTML, loads no picture, and ends every code block that it begins.
 */
export function foreignMarkdown(text: string): string {
  let open = ''
  const lines = visibleText(text)
    .split('\n')
    .map((line) => {
      const [, run = '', rest = ''] = fence.exec(line) ?? []
      if (open !== '') {
        const closes = run.startsWith(open) && rest.trim() === ''
        if (closes) open = ''
        // At the margin it closes the block for every reader, also behind a list.
        return closes ? run : line
      }
      if (run === '') return tamed(line)
      open = run
      return run + (/^\s*[\w+#.-]+/.exec(rest)?.[0].trim() ?? '')
    })
  if (open !== '') lines.push(open)
  return lines.join('\n')
}

/** Marks of lists and quotes, which may stand before what makes a heading. */
const marks = String.raw`^((?:[ \t]|[-*+](?=[ \t])|>|\d{1,9}[.)](?=[ \t]))*)`
const heading = new RegExp(String.raw`${marks}(#{1,6}(?=[ \t]|$))`)
const underline = new RegExp(String.raw`${marks}(=+|-+)[ \t]*$`)

function tamed(line: string): string {
  return line
    .replaceAll(/<(?=[A-Za-z/!?])/g, '&lt;')
    .replaceAll('![', '!\\[')
    .replace(heading, '$1\\$2')
    .replace(underline, '$1\\$2')
}
