import { Marked } from 'marked'
import { visibleText } from '../visible-text.ts'
import { codeBlock } from './code-block.ts'
import { escaped } from './escape.ts'

/** A page of more than this is shown as it was written: nobody reads it for its headings. */
const MAX_RICH = 100_000

const marked = new Marked({ gfm: true })
marked.use({
  // Without these two, what looks like HTML is text.
  tokenizer: { html: () => undefined, tag: () => undefined },
  renderer: {
    code: ({ text, lang }) => codeBlock(text, lang),
    codespan: ({ text }) => `<code>${escaped(text)}</code>`,
    html: ({ text }) => escaped(text),
    text(token) {
      const inner = 'tokens' in token ? token.tokens : undefined
      return inner ? this.parser.parseInline(inner) : escaped(decoded(token.text))
    },
    // Headings of the page itself are of the first two levels.
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 2)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return text
      return `<a href="${escaped(href)}" rel="noreferrer noopener" target="_blank">${text}</a>`
    },
    // Nothing is fetched: a picture elsewhere is a link to it.
    image: ({ href, text }) =>
      `<span class="elsewhere">[${escaped(text)}: ${escaped(href)}]</span>`,
  },
})

/** Markdown that a model wrote, as HTML of which every tag is ours. */
export function richText(text: string): string {
  if (text.length > MAX_RICH) return plainText(text)
  return `<div class="rich">${marked.parse(visibleText(text), { async: false })}</div>\n`
}

/** Text as it was typed. */
export function plainText(text: string): string {
  return `<div class="plain" dir="auto">${escaped(text)}</div>\n`
}

/** The lexer leaves entities that the writer wrote; they are the characters that they name. */
function decoded(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
