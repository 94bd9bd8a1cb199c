import { textOf } from '@cordage/core/message'
import {
  sessionImported,
  sessionTitle,
  toolCall,
  turnEnd,
  turnStart,
  userMessage,
  type Fact,
  type TurnEndReason,
} from '@cordage/core/session'
import { addSpend, NO_SPEND, type Spend } from '../usage/spend.ts'
import { Tally } from '../usage/tally.ts'
import { visibleLine } from './visible-text.ts'

/** What a turn came to, before it is told. */
export interface TurnOutline {
  readonly turn: number
  /** What was asked, on one line. */
  words: string
  /** Whether a person typed them. */
  isTyped: boolean
  readonly begun: number
  ended: number
  calls: number
  spend: Spend
  reason?: TurnEndReason
}

export interface Outline {
  readonly title: string
  readonly importedFrom?: string
  readonly turns: readonly TurnOutline[]
  readonly tally: Tally
  readonly facts: number
  readonly endedAt: number | undefined
}

const WORDS = 90

/** Reads a session once for what stands at the head of an export; it keeps a line for each turn. */
export async function outlineOf(facts: AsyncIterable<Fact>): Promise<Outline> {
  const tally = new Tally()
  const turns: TurnOutline[] = []
  let title: string | undefined
  let from: string | undefined
  let count = 0
  let endedAt: number | undefined
  for await (const fact of facts) {
    const spent = tally.add(fact)
    count += 1
    endedAt = fact.time
    if (turnStart.is(fact)) turns.push(newTurn(fact.data.turn, fact.time))
    if (sessionTitle.is(fact)) title = fact.data.title
    if (sessionImported.is(fact)) from = fact.data.from
    const turn = turns.at(-1)
    if (turn) follow(turn, fact, spent)
  }
  const named = visibleLine(title ?? turns[0]?.words ?? '', 200) || 'A session without words'
  const imported = from === undefined ? {} : { importedFrom: visibleLine(from, 40) }
  return { title: named, turns, tally, facts: count, endedAt, ...imported }
}

function newTurn(turn: number, time: number): TurnOutline {
  return { turn, words: '', isTyped: false, begun: time, ended: time, calls: 0, spend: NO_SPEND }
}

function follow(turn: TurnOutline, fact: Fact, spent: Spend | undefined): void {
  if (turn.reason !== undefined) return
  turn.ended = fact.time
  if (spent) turn.spend = addSpend(turn.spend, spent)
  if (toolCall.is(fact)) turn.calls += 1
  if (turnEnd.is(fact)) turn.reason = fact.data.reason
  if (!userMessage.is(fact)) return
  // What a person typed says more of a turn than what was put beside it.
  const { message } = fact.data
  const typed = message.source.kind === 'user'
  if (turn.words !== '' && (turn.isTyped || !typed)) return
  turn.words = visibleLine(textOf(message), WORDS)
  turn.isTyped = typed
}
