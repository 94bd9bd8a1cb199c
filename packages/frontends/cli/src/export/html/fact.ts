import { textOf, type Message } from '@cordage/core/message'
import {
  approvalAsked,
  approvalDecided,
  assistantMessage,
  attemptFailed,
  compactionSummary,
  contextMessage,
  coreEvent,
  sessionChild,
  sessionDirectory,
  systemMessage,
  userMessage,
  type Fact,
  type FactOf,
} from '@cordage/core/session'
import { codeBlock } from './code-block.ts'
import { escaped } from './escape.ts'
import { plainText, richText } from './rich-text.ts'

/**
 * A fact of a transcript but for calls and the bounds of turns. `images` are those in it; an
 * answer of the `sameWriter` as the one before it does not name the writer again.
 */
export function factHtml(fact: Fact, images: string, sameWriter = false): string {
  if (userMessage.is(fact)) return saidHtml(fact.data.message, images)
  if (assistantMessage.is(fact)) return answerHtml(fact.data, sameWriter)
  if (attemptFailed.is(fact)) {
    const { error, partial } = fact.data
    const had = partial === undefined ? '' : fold('What had come of it', plainText(partial))
    return `<p class="note trouble">A try failed: ${escaped(error.message)} (${escaped(error.code)})</p>\n${had}`
  }
  if (systemMessage.is(fact)) return folded('The system prompt', fact.data.message)
  if (contextMessage.is(fact)) return folded(`Context: ${fact.data.id}`, fact.data.message)
  if (compactionSummary.is(fact))
    return folded('A summary took the place of what is above', fact.data.message)
  if (approvalAsked.is(fact)) return noteHtml(`Asked for approval: ${fact.data.reason}`)
  if (approvalDecided.is(fact)) {
    const { outcome, by, reason } = fact.data
    return noteHtml(`${outcome} by ${by}${reason === undefined ? '' : `: ${reason}`}`)
  }
  if (sessionChild.is(fact)) {
    return noteHtml(`A child works on it: ${fact.data.description} (${fact.data.session})`)
  }
  if (sessionDirectory.is(fact)) return noteHtml(`Works in ${fact.data.cwd} from here on`)
  if (coreEvent(fact.type) !== undefined) return ''
  return fold(`Unknown: ${fact.type}`, codeBlock(JSON.stringify(fact.data, null, 2)))
}

function saidHtml({ source, content }: Message, images: string): string {
  const text = textOf({ content })
  if (source.kind === 'user') {
    return `<div class="said"><p class="who">You</p>${plainText(text)}${images}</div>\n`
  }
  const by = source.kind === 'plugin' ? `${source.row}, ${source.form}` : source.kind
  return `<div class="said other"><p class="who">By ${escaped(by)}</p>${plainText(text)}${images}</div>\n`
}

function answerHtml(data: FactOf<typeof assistantMessage>['data'], sameWriter: boolean): string {
  const { content } = data.message
  const thought = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('')
  const text = textOf({ content }).trim()
  const words = thought.trim().split(/\s+/).length
  const reasoning =
    thought.trim() === '' ? '' : fold(`Reasoning, ${words} words`, richText(thought))
  if (text === '') return reasoning
  const who = sameWriter ? '' : `<p class="who">${escaped(writerOf(data.message))}</p>`
  const cut = data.interrupted ? noteHtml('The answer was interrupted here.') : ''
  return `${reasoning}<div class="answer">${who}${richText(text)}</div>\n${cut}`
}

export function writerOf({ source }: Message): string {
  return source.kind === 'model' ? source.model : 'Agent'
}

function folded(title: string, message: Message): string {
  return fold(title, plainText(textOf(message)), 'fold told')
}

function fold(title: string, inner: string, kind = 'fold'): string {
  return `<details class="${kind}"><summary>${escaped(title)}</summary>${inner}</details>\n`
}

function noteHtml(text: string): string {
  return `<p class="note">${escaped(text)}</p>\n`
}
