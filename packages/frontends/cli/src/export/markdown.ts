import { textOf, type Message } from '@cordage/core/message'
import {
  assistantMessage,
  attemptFailed,
  approvalAsked,
  approvalDecided,
  compactionSummary,
  coreEvent,
  sessionChild,
  sessionImported,
  turnEnd,
  turnStart,
  userMessage,
  type Fact,
} from '@cordage/core/session'
import { costText, countText, durationText, type Spend } from '../usage/spend.ts'
import type { ExportedSession } from './exported-session.ts'
import { fenced, foreignMarkdown, plainWords, quoted } from './markdown-text.ts'
import { Moments, type CallMoment, type Moment } from './moments.ts'
import { outlineOf, type Outline } from './outline.ts'
import { timeText } from './time-text.ts'

/** A session for people to read, turn by turn. */
export async function* markdownOf(session: ExportedSession): AsyncGenerator<string> {
  const outline = await outlineOf(session.read())
  yield headOf(session, outline)
  const moments = new Moments()
  const tell = (moment: Moment) =>
    moment.kind === 'call' ? callText(moment) : factText(moment.fact, outline)
  for await (const fact of session.read())
    for (const moment of moments.add(fact)) yield tell(moment)
  for (const moment of moments.end()) yield tell(moment)
  const children: string[] = []
  for await (const child of session.children()) children.push(`- ${child.header.id}\n`)
  if (children.length > 0) yield `\n## Sessions that it started\n\n${children.join('')}`
}

function headOf({ header, notices }: ExportedSession, outline: Outline): string {
  const { tally, importedFrom } = outline
  const models = [...tally.models.keys()].map(plainWords).join(', ')
  const rows = [
    ['Session', header.id],
    ['Begun', timeText(header.createdAt)],
    ['Project', plainWords(header.project)],
    ...(importedFrom === undefined ? [] : [['Imported from', plainWords(importedFrom)]]),
    ...(models === '' ? [] : [['Models', models]]),
    ['Spent', spendText(tally.total)],
  ]
  const table = rows.map(([name, value]) => `| ${name} | ${value} |\n`).join('')
  const notes = notices.map((notice) => `\n> ${plainWords(notice)}\n`).join('')
  return `# ${plainWords(outline.title)}\n\n| | |\n|---|---|\n${table}${notes}`
}

function factText(fact: Fact, outline: Outline): string {
  if (turnStart.is(fact)) return `\n## Turn ${fact.data.turn} · ${timeText(fact.time)}\n`
  if (userMessage.is(fact)) return saidText(fact.data.message)
  if (assistantMessage.is(fact)) return answerText(fact.data.message)
  if (turnEnd.is(fact)) return endText(fact.data, outline)
  if (attemptFailed.is(fact)) {
    const { error, partial } = fact.data
    const had = partial === undefined ? '' : `\n${fenced(partial)}`
    return `\n*A try failed: ${plainWords(error.message)} (${plainWords(error.code)})*\n${had}`
  }
  if (compactionSummary.is(fact)) {
    return `\n*What was before was summarised:*\n\n${quoted(foreignMarkdown(textOf(fact.data.message)))}\n`
  }
  if (approvalAsked.is(fact)) return `\n*Asked for approval: ${plainWords(fact.data.reason)}*\n`
  if (approvalDecided.is(fact)) {
    return `\n*${plainWords(fact.data.outcome)} by ${plainWords(fact.data.by)}*\n`
  }
  if (sessionChild.is(fact)) {
    const { description, session } = fact.data
    return `\n*A child works on it: ${plainWords(description)} (${plainWords(session)})*\n`
  }
  if (coreEvent(fact.type) !== undefined || sessionImported.is(fact)) return ''
  const data = fenced(JSON.stringify(fact.data, null, 2), 'json')
  return `\n*A fact that this version does not know: ${plainWords(fact.type)}*\n\n${data}`
}

function saidText(message: Message): string {
  const { source } = message
  const who = source.kind === 'user' ? 'You' : `By ${plainWords(nameOf(source))}`
  return `\n**${who}**\n\n${quoted(foreignMarkdown(textOf(message)))}\n${imagesText(message.content)}`
}

function nameOf(source: Message['source']): string {
  return source.kind === 'plugin' ? source.row : source.kind
}

function answerText(message: Message): string {
  const { source, content } = message
  const thought = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('')
  const text = textOf(message).trim()
  if (text === '' && thought.trim() === '') return ''
  const who = source.kind === 'model' ? plainWords(source.model) : 'Agent'
  const reasoning =
    thought.trim() === '' ? '' : `*Reasoning*\n\n${quoted(foreignMarkdown(thought))}\n\n`
  return `\n**${who}**\n\n${reasoning}${foreignMarkdown(text)}\n`
}

function callText({ name, arguments: given, result }: CallMoment): string {
  const took = result?.durationMs === undefined ? '' : ` · ${durationText(result.durationMs)}`
  const ending = result === undefined ? ' · no result' : result.part.isError ? ' · failed' : ''
  const content = result === undefined ? '' : textOf(result.part)
  const shown = content === '' ? '' : `\n${fenced(content)}`
  return `\n**→ ${plainWords(name)}**${took}${ending}\n\n${fenced(pretty(given), 'json')}${shown}${imagesText(result?.part.content ?? [])}`
}

function imagesText(content: Message['content']): string {
  const images = content.flatMap((part) => (part.type === 'image' ? [part.blob] : []))
  return images
    .map(({ mediaType, bytes, hash }) => {
      return `\n*Image: ${plainWords(mediaType)}, ${countText(bytes)} bytes, ${plainWords(hash)}*\n`
    })
    .join('')
}

function endText({ turn, reason }: { turn: number; reason: string }, { turns }: Outline): string {
  const outline = turns.find((one) => one.turn === turn)
  const spent = outline === undefined ? '' : ` · ${spendText(outline.spend)}`
  return `\n*Turn ${turn}: ${plainWords(reason)}${spent}*\n`
}

export function spendText(spend: Spend): string {
  const { usage, ms } = spend
  const tokens = `${countText(usage.inputTokens)} in, ${countText(usage.outputTokens)} out`
  return `${tokens} · ${costText(spend)} · ${durationText(ms)}`
}

/** Arguments as a model wrote them, laid out where they are JSON. */
export function pretty(given: string): string {
  try {
    return JSON.stringify(JSON.parse(given), null, 2)
  } catch {
    return given
  }
}
