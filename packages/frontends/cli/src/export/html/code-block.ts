import { escaped } from './escape.ts'

const unified = /^(?:diff --git |--- [^\n]*\n\+\+\+ |\*\*\* Begin Patch|@@ )/m

/** A text of fixed width, its lines coloured where it is a diff. */
export function codeBlock(text: string, language = ''): string {
  if (language === 'diff' || unified.test(text.slice(0, 2_000))) return diffBlock(text.split('\n'))
  return `<pre><code>${escaped(text.replace(/\n$/, ''))}</code></pre>\n`
}

/** Lines that begin with `+`, `-` or `@@`, as diffs have them. */
export function diffBlock(lines: readonly string[]): string {
  const marked = lines.map((line) => {
    const kind = kindOf(line)
    const text = escaped(line)
    return kind === undefined ? text : `<span class="${kind}">${text}</span>`
  })
  return `<pre class="diff"><code>${marked.join('\n')}</code></pre>\n`
}

function kindOf(line: string): string | undefined {
  if (/^(?:\+\+\+|---|diff |index |\*\*\*|@@)/.test(line)) return 'place'
  if (line.startsWith('+')) return 'added'
  return line.startsWith('-') ? 'removed' : undefined
}
