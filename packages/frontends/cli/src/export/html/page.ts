import type { ImagePart, Message } from '@cordage/core/message'
import { assistantMessage, turnEnd, turnStart, userMessage, type Fact } from '@cordage/core/session'
import { costText, countText, durationText, type Spend } from '../../usage/spend.ts'
import { UNKNOWN_MODEL } from '../../usage/tally.ts'
import type { ExportedSession } from '../exported-session.ts'
import { Moments, type Moment } from '../moments.ts'
import { outlineOf, type Outline, type TurnOutline } from '../outline.ts'
import { timeText } from '../time-text.ts'
import { callHtml } from './call.ts'
import { escaped } from './escape.ts'
import { factHtml, writerOf } from './fact.ts'
import { Images } from './images.ts'
import { sourceTag } from './source-tag.ts'
import { policy, style } from './style.ts'

/** A session as one page that needs nothing beside it; its children are behind it, each whole. */
export async function* htmlOf(session: ExportedSession): AsyncGenerator<string> {
  const outline = await outlineOf(session.read())
  const children: { readonly id: string; readonly outline: Outline }[] = []
  for await (const child of session.children()) {
    children.push({ id: child.header.id, outline: await outlineOf(child.read()) })
  }
  yield startOf(session, outline)
  const entries = outline.turns.map((turn) => entryHtml(`turn-${turn.turn}`, turn.words, turn))
  const below = children.map(({ id, outline: of }) => {
    const calls = of.turns.reduce((sum, turn) => sum + turn.calls, 0)
    return entryHtml(`session-${id}`, `↳ ${of.title}`, { calls, spend: of.tally.total })
  })
  yield `<nav><h2>Contents</h2><ol>\n${entries.join('')}${below.join('')}</ol></nav>\n<main>\n`
  yield* transcriptOf(session, outline, 'turn')
  yield* childrenOf(session)
  yield `<footer>Exported from the session ${escaped(session.header.id)} of Cordage.</footer>\n</main></div></body></html>\n`
}

async function* childrenOf(session: ExportedSession): AsyncGenerator<string> {
  for await (const child of session.children()) {
    const { id } = child.header
    const outline = await outlineOf(child.read())
    yield `<section class="child" id="session-${escaped(id)}"><h2>${escaped(outline.title)}</h2>\n`
    yield `<p class="about"><span>A session that it started: ${escaped(id)}</span><span>${spendHtml(outline.tally.total)}</span></p>\n`
    yield* transcriptOf(child, outline, `turn-${id}`)
    yield* childrenOf(child)
    yield '</section>\n'
  }
}

async function* transcriptOf(
  session: ExportedSession,
  { turns }: Outline,
  anchor: string,
): AsyncGenerator<string> {
  const images = new Images((hash) => session.blob(hash))
  const moments = new Moments()
  let open = false
  let writer = ''
  for await (const fact of session.read()) {
    const answer = assistantMessage.is(fact) ? writerOf(fact.data.message) : writer
    for (const moment of moments.add(fact)) {
      yield await momentHtml(moment, images, answer === writer)
    }
    writer = turnStart.is(fact) || userMessage.is(fact) ? '' : answer
    if (turnStart.is(fact)) {
      if (open) yield '</section>\n'
      yield turnHead(fact.data.turn, fact.time, anchor)
      open = true
    }
    if (turnEnd.is(fact) && open) {
      const outline = turns.find(({ turn }) => turn === fact.data.turn)
      yield `${endingHtml(fact, outline)}</section>\n`
      open = false
    }
  }
  for (const moment of moments.end()) yield await momentHtml(moment, images, true)
  if (open) yield '</section>\n'
}

async function momentHtml(moment: Moment, images: Images, sameWriter: boolean) {
  if (moment.kind === 'call') {
    return callHtml(moment, await imagesHtml(moment.result?.part.content ?? [], images))
  }
  const { fact } = moment
  const shown = userMessage.is(fact) || assistantMessage.is(fact) ? fact.data.message.content : []
  return factHtml(fact, await imagesHtml(shown, images), sameWriter)
}

async function imagesHtml(content: Message['content'], images: Images): Promise<string> {
  const html: string[] = []
  const parts = content.filter((part): part is ImagePart => part.type === 'image')
  for (const { blob } of parts) html.push(await images.html(blob))
  return html.join('')
}

function startOf({ header, notices }: ExportedSession, outline: Outline): string {
  const { tally, title, importedFrom, endedAt } = outline
  const calls = [...tally.tools.values()].reduce((sum, tool) => sum + tool.calls, 0)
  const about = [
    timeText(header.createdAt),
    header.project,
    ...[...tally.models.keys()].filter((model) => model !== UNKNOWN_MODEL),
    ...(importedFrom === undefined ? [] : [`imported from ${importedFrom}`]),
    ...(header.parent === undefined ? [] : [`${header.parent.kind} of ${header.parent.id}`]),
  ]
  const { usage } = tally.total
  const figures = [
    ['Turns', countText(tally.turns)],
    ['Steps', countText(tally.steps)],
    ['Tool calls', countText(calls)],
    ['Tokens in', countText(usage.inputTokens)],
    ['Tokens out', countText(usage.outputTokens)],
    ['Cost', costText(tally.total)],
    ['From start to end', durationText(Math.max(0, (endedAt ?? 0) - header.createdAt))],
  ]
  const list = figures.map(
    ([name, value]) => `<div><dt>${name}</dt><dd>${escaped(value ?? '')}</dd></div>`,
  )
  const spans = about.map((text) => `<span>${escaped(text)}</span>`)
  const notes = notices.map((text) => `<p class="note trouble">${escaped(text)}</p>`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
${sourceTag(header.id)}
<title>${escaped(title)}</title>
<style>${style}</style></head>
<body><header class="head"><div><h1>${escaped(title)}</h1>
<p class="about">${spans.join('')}</p>${notes.join('')}
<dl class="figures">${list.join('')}</dl></div></header>
<div class="layout">
`
}

function entryHtml(
  anchor: string,
  words: string,
  { calls, spend }: Pick<TurnOutline, 'calls' | 'spend'>,
): string {
  const size = `${spend.calls} steps, ${calls} calls${priceHtml(spend)}`
  return `<li><a href="#${escaped(anchor)}">${escaped(words || 'Without words')}<small>${size}</small></a></li>\n`
}

function turnHead(turn: number, time: number, anchor: string): string {
  const id = escaped(`${anchor}-${turn}`)
  return `<section class="turn" id="${id}"><h2><a href="#${id}">Turn ${turn}</a><time>${timeText(time)}</time></h2>\n`
}

function endingHtml(
  { data }: Fact<{ reason: string; error?: { message: string } | undefined }>,
  outline?: TurnOutline,
) {
  const reason = `<b${data.reason === 'completed' ? '' : ' class="cut"'}>${escaped(data.reason)}</b>`
  const why = data.error === undefined ? '' : `: ${escaped(data.error.message)}`
  if (outline === undefined) return `<p class="ending">${reason}${why}</p>`
  const { spend, calls, begun, ended } = outline
  const took = durationText(Math.max(0, ended - begun))
  return `<p class="ending">${reason}${why} · ${spend.calls} steps, ${calls} calls · ${spendHtml(spend)} · took ${took}</p>\n`
}

function spendHtml(spend: Spend): string {
  const { usage } = spend
  const cached = usage.cacheReadTokens ? `, ${countText(usage.cacheReadTokens)} of them cached` : ''
  const tokens = `${countText(usage.inputTokens)} tokens in${cached}`
  return `${tokens}, ${countText(usage.outputTokens)} out${priceHtml(spend)}`
}

/** Nothing where no call has a price. */
function priceHtml(spend: Spend): string {
  const price = costText(spend)
  return price === '-' ? '' : ` · ${escaped(price)}`
}
