import type { Context } from '@cordage/core/kernel'
import { textOf, type Message } from '@cordage/core/message'
import { estimateMessage, estimateTool } from '@cordage/core/model'
import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  requestAt,
  requestMismatch,
  sessionChild,
  toolCall,
  toolResult,
  turnEnd,
  userMessage,
  type Fact,
  type LoggedRequest,
  type Session,
  type SessionEvents,
  type Stability,
} from '@cordage/core/session'
import { timeText } from '../export/time-text.ts'
import { harmless, jsonLine, jsonText, oneLine, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { followSession } from './session-follow.ts'
import { completeId } from './session-id.ts'
import { withHarness } from './with-harness.ts'

export interface ShowOptions extends ListOptions {
  /** `<step>` of the last turn that has it, or `<turn>.<step>`. */
  readonly request?: string
  /** Go on with what is added. */
  readonly follow?: boolean
}

/** Prints a session as it went, or what one of its requests contained. */
export async function showSession(given: string, options: ShowOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const sessions = ctx.get('sessions')
    if (!sessions) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
    const session = await sessions.open(await completeId(ctx, given), { mode: 'read' })
    try {
      const { events } = sessions
      if (options.follow) return await follow(ctx, session, events, options)
      const facts: Fact[] = []
      for await (const fact of session.read(0)) facts.push(fact)
      const text =
        options.request === undefined
          ? transcript(session, facts, events, options)
          : await request(session, facts, options)
      process.stdout.write(text)
      return 0
    } finally {
      await session.close()
    }
  })
}

/** What there is, and what is added until a signal comes; as JSON, one fact a line. */
async function follow(
  ctx: Context,
  session: Session,
  events: SessionEvents,
  { output, request: step }: ShowOptions,
): Promise<number> {
  if (step !== undefined) {
    throw cliError('USAGE', { reason: 'Give one of --follow and --request: a request is past.' })
  }
  const textOfFact = (fact: Fact) => (output === 'json' ? jsonLine(fact) : factText(fact, events))
  if (output === 'text') process.stdout.write(headText(session))
  for await (const fact of session.read(0)) {
    const text = textOfFact(fact)
    if (text !== undefined) process.stdout.write(`${text}\n`)
  }
  return followSession(ctx, session, { textOfFact, deltas: output === 'text' })
}

function transcript(
  session: Session,
  facts: readonly Fact[],
  events: SessionEvents,
  { output }: ShowOptions,
): string {
  const { header, notices } = session
  if (output === 'json') return jsonText({ header, notices, facts })
  const lines = facts.map((fact) => factText(fact, events)).filter((text) => text !== undefined)
  return headText(session) + lines.map((line) => `${line}\n`).join('')
}

function headText({ header, notices }: Session): string {
  const head = `${header.id} · ${timeText(header.createdAt)} · ${oneLine(header.project, 200)}`
  return harmless(`${[head, ...notices.map((notice) => `notice: ${notice}`)].join('\n')}\n`)
}

function factText(fact: Fact, events: SessionEvents): string | undefined {
  if (!isKnown(fact, events)) {
    return `? unknown ${oneLine(fact.type, 80)} (version ${fact.v}): ${oneLine(JSON.stringify(fact.data), 120)}`
  }
  if (userMessage.is(fact)) return `\n> ${harmless(textOf(fact.data.message))}`
  if (assistantMessage.is(fact)) return harmless(textOf(fact.data.message)).trim() || undefined
  if (toolCall.is(fact)) return oneLine(`→ ${fact.data.name} ${fact.data.arguments}`, 160)
  if (sessionChild.is(fact)) {
    return oneLine(`↳ ${fact.data.session} ${fact.data.description}`, 160)
  }
  if (toolResult.is(fact)) {
    const mark = fact.data.part.isError ? '✗' : '✓'
    return `${mark} ${oneLine(textOf(fact.data.part), 160)}`
  }
  if (attemptFailed.is(fact))
    return harmless(`! ${fact.data.error.code}: ${fact.data.error.message}`)
  if (requestMismatch.is(fact)) return `! not to be rebuilt: ${oneLine(fact.data.reason, 160)}`
  if (turnEnd.is(fact)) return oneLine(`turn ${fact.data.turn}: ${fact.data.reason}`, 160)
  return undefined
}

/** Of a plugin that is not there, or of a later version than this one. */
function isKnown({ type, v }: Fact, events: SessionEvents): boolean {
  return v <= (events.get(type)?.version ?? 0)
}

async function request(session: Session, facts: readonly Fact[], options: ShowOptions) {
  const steps = [...new Set(facts.filter((fact) => attemptStart.is(fact)).map(stepOf))]
  const wanted = options.request ?? ''
  const step = wanted.includes('.')
    ? steps.find((known) => known === wanted)
    : steps.findLast((known) => known.split('.')[1] === wanted)
  const [turn = 0, number = 0] = (step ?? '').split('.').map(Number)
  const found = step === undefined ? undefined : await requestAt(facts, turn, number)
  if (!found) throw cliError('STEP_UNKNOWN', { id: session.id, step: wanted, steps })
  const parts = partsOf(found)
  const { provider, model, params } = found.header
  const total = parts.reduce((sum, part) => sum + part.tokens, 0)
  if (options.output === 'json') {
    return jsonText({ step, provider, model, params, tokens: total, parts, ...found })
  }
  const rows = parts.map((part) => [
    part.what,
    [part.origin, part.stability].filter(Boolean).join(', '),
    part.tokens > 0 ? `~${part.tokens}` : '',
    oneLine(part.text, 100),
  ])
  const to = oneLine(`${provider}/${model}`, 100)
  const head = `request of step ${step} to ${to}: about ${total} tokens\n`
  return head + tableText([['part', 'origin', 'tokens', 'begins with'], ...rows])
}

function stepOf({ data }: Fact): string {
  const { turn, step } = data as { turn: number; step: number }
  return `${turn}.${step}`
}

interface Part {
  readonly what: string
  readonly origin: string
  /** How long it stays, where its row says that. */
  readonly stability?: Stability
  /** Estimated; 0 for a part that is counted in the one before it. */
  readonly tokens: number
  readonly text: string
}

const SECTION = 'system: '

function partsOf({ header, messages }: LoggedRequest): Part[] {
  const by = new Map(
    header.origin.map(({ part, row, stability }) => {
      return [part, { origin: row, ...(stability ? { stability } : {}) }]
    }),
  )
  const sections = header.origin
    .filter(({ part }) => part.startsWith(SECTION))
    .map(({ part, row, tokens }) => {
      const text = `a section of about ${tokens} tokens`
      const what = `  ${part.slice(SECTION.length)}`
      return { what, origin: row, ...by.get(part), tokens: 0, text }
    })
  const tools = header.tools.map((tool) => ({
    what: `tool ${tool.name}`,
    origin: '',
    ...by.get(`tool: ${tool.name}`),
    tokens: estimateTool(tool),
    text: tool.description,
  }))
  const lastSystem = messages.findLast(({ message }) => message.role === 'system')
  const said = messages.flatMap((logged) => {
    const { message } = logged
    const part = {
      what: message.role,
      origin: originOf(message),
      tokens: estimateMessage(message),
      text: summary(message),
    }
    return logged === lastSystem ? [part, ...sections] : [part]
  })
  return [...tools, ...said]
}

function originOf({ source }: Message): string {
  switch (source.kind) {
    case 'plugin':
      return `${source.row} (${source.form})`
    case 'model':
      return `${source.provider}/${source.model}`
    case 'tool':
      return `call ${source.callId}`
    case 'user':
      return 'you'
  }
}

function summary(message: Message): string {
  const parts = message.content.map((part) => {
    if (part.type === 'tool-call') return `→ ${part.name} ${part.arguments}`
    if (part.type === 'tool-result') return textOf(part)
    if (part.type === 'image') return `[image ${part.blob.mediaType}]`
    return part.text
  })
  return parts.join(' ')
}
