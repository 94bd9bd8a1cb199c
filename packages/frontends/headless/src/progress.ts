import type { TurnOutcome } from '@cordage/core/agent'
import type { Terminal } from '@cordage/core/command'
import type { Totals } from '@cordage/core/ledger'
import { textOf, toolCallsOf, type Message } from '@cordage/core/message'
import {
  approvalDecided,
  assistantMessage,
  attemptFailed,
  requestMismatch,
  requestPrefix,
  stepStart,
  toolCall,
  toolResult,
  type Fact,
  type SessionUpdate,
} from '@cordage/core/session'
import picocolors from 'picocolors'
import { escape } from './escape.ts'

export interface Opening {
  readonly session: string
  readonly model: string
  readonly scripted: boolean
  readonly permission: string
  readonly shell: string
}

export interface Progress {
  opening(opening: Opening): void
  update(update: SessionUpdate): void
  closing(outcome: TurnOutcome, totals: Totals): void
}

const SHOWN_LINES = 8

/** Plain lines as things happen; in a terminal also what is being written right now. */
export function createProgress(terminal: Terminal, cwd: string): Progress {
  const paint = picocolors.createColors(terminal.color)
  const write = (text: string) => terminal.err(text)
  const told = new Set<string>()
  let streamed = ''
  // Held until it is known whether more follows: the last text is the answer, said on stdout.
  let unsaid: string | undefined

  const endStream = () => {
    if (streamed !== '') write('\r\u001B[K')
    streamed = ''
  }
  const say = (text: string) => {
    endStream()
    write(`${text}\n`)
  }

  return {
    opening({ session, model, scripted, permission, shell }) {
      say(paint.dim(`session ${session} · ${model} · ${permission} · shell: ${shell} · ${cwd}`))
      if (!scripted) return
      say(paint.yellow('The scripted model is in use: its words are recorded, all else is real.'))
      say(
        paint.dim(
          'For a real one set DEEPSEEK_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY and leave out --model.',
        ),
      )
    },
    update(update) {
      if (update.kind === 'fact') {
        const { fact } = update
        if (assistantMessage.is(fact)) unsaid = finalText(fact.data.message)
        if (stepStart.is(fact) && unsaid !== undefined) {
          say(unsaid)
          unsaid = undefined
        }
        const text = lineOf(fact, paint)
        if (text !== undefined) say(text)
        for (const unsteady of unsteadyIn(fact)) {
          if (!told.has(unsteady)) say(paint.yellow(unsteady))
          told.add(unsteady)
        }
      } else if (terminal.errIsTerminal && update.delta.kind === 'text') {
        streamed = tail(streamed + update.delta.text, terminal.columns)
        write(`\r\u001B[K${paint.dim(streamed)}`)
      }
    },
    closing(outcome, totals) {
      const { usage, steps, toolCalls, costUsd, unpriced } = totals
      const cost = unpriced ? '' : ` · $${costUsd.toFixed(4)}`
      const tokens = `${usage.inputTokens} in, ${usage.outputTokens} out${usage.estimated ? ' (estimated)' : ''}`
      say(
        paint.dim(
          `${outcome.reason} · ${steps} steps · ${toolCalls} tool calls · ${tokens}${cost}`,
        ),
      )
    },
  }
}

type Paint = ReturnType<typeof picocolors.createColors>

function lineOf(fact: Fact, paint: Paint): string | undefined {
  if (stepStart.is(fact)) return paint.bold(`\nstep ${fact.data.step}`)
  if (assistantMessage.is(fact)) {
    if (finalText(fact.data.message) !== undefined) return undefined
    const text = textOf(fact.data.message).trim()
    return text === '' ? undefined : escape(text)
  }
  if (toolCall.is(fact)) {
    return `${paint.cyan('→')} ${paint.bold(escape(fact.data.name))} ${escape(oneLine(fact.data.arguments))}`
  }
  if (toolResult.is(fact)) {
    const { part, error } = fact.data
    const mark = part.isError ? paint.red(error ? `✗ ${error.code}` : '✗') : paint.green('✓')
    return `${mark} ${paint.dim(escape(shorten(textOf(part))))}`
  }
  if (attemptFailed.is(fact)) {
    const { error, retryInMs, nextModel, usage } = fact.data
    const billed = usage ? `, ${usage.outputTokens} tokens of output were charged for` : ''
    const again =
      nextModel === undefined ? `again in ${retryInMs} ms` : `going on with ${nextModel}`
    const next = retryInMs === undefined ? 'giving up' : `${again}${billed}`
    return paint.yellow(`! ${error.code}: ${escape(error.message)} (${escape(next)})`)
  }
  if (requestMismatch.is(fact)) {
    return paint.red(`! this request cannot be rebuilt from the log: ${escape(fact.data.reason)}`)
  }
  if (approvalDecided.is(fact) && fact.data.outcome !== 'allowed') {
    return paint.yellow(`! not allowed: ${escape(fact.data.reason ?? fact.data.outcome)}`)
  }
  return undefined
}

/** What was declared to stay and did not: it costs what a provider has cached. */
function unsteadyIn(fact: Fact): string[] {
  if (!requestPrefix.is(fact) || fact.data.resumed) return []
  return fact.data.changes.flatMap(({ why, part = '', row = '', stability }) => {
    if (why !== 'changed' || stability !== 'stable') return []
    return [`! row ${escape(row)} changed its part "${escape(part)}", which it declares stable`]
  })
}

/** The text of a message that asks for nothing more, where it has any. */
function finalText(message: Message): string | undefined {
  return toolCallsOf(message).length > 0 ? undefined : escape(textOf(message).trim()) || undefined
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 160 ? `${line.slice(0, 159)}…` : line
}

function shorten(text: string): string {
  const lines = text.trimEnd().split('\n')
  if (lines.length <= SHOWN_LINES) return lines.join('\n  ')
  const rest = lines.length - SHOWN_LINES
  return `${lines.slice(0, SHOWN_LINES).join('\n  ')}\n  … ${rest} more lines`
}

function tail(text: string, columns: number): string {
  const line = escape(text.replaceAll('\n', ' '))
  return line.slice(-Math.max(10, columns - 1))
}
