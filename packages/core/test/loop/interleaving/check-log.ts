import { createHash } from 'node:crypto'
import { textOf, toolCallsOf } from '@cordage/core/message'
import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  inboxSplice,
  requestMessages,
  SessionFold,
  stepEnd,
  stepStart,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  userMessage,
  type Fact,
  type InboxState,
} from '@cordage/core/session'
import { bodyOf, LATE } from './world.ts'

/** What DESIGN section 8 forbids and the log of an idle agent shows, in words. */
export function findViolations(facts: readonly Fact[]): string[] {
  return [
    ...brokenNesting(facts),
    ...unpairedCalls(facts),
    ...inboxTwice(facts),
    ...requestsThatAreNoFold(facts),
    ...strangeEnds(facts),
    ...(JSON.stringify(facts).includes(LATE) ? ['what was left behind is in the log'] : []),
  ]
}

/** Turns hold steps, steps hold attempts, and each that begins ends once before the next. */
function brokenNesting(facts: readonly Fact[]): string[] {
  const wrong: string[] = []
  const open: string[] = []
  const begin = (what: string, inside: string | undefined) => {
    if (open.at(-1) !== inside) wrong.push(`${what} inside ${open.at(-1)}`)
    open.push(what)
  }
  const end = (what: string) => {
    if (open.pop() !== what) wrong.push(`the end of a ${what} that was not open`)
  }
  for (const [at, fact] of facts.entries()) {
    if (fact.seq !== at) wrong.push(`fact ${at} has the place ${fact.seq}`)
    if (turnStart.is(fact)) begin('turn', undefined)
    if (stepStart.is(fact)) begin('step', 'turn')
    if (attemptStart.is(fact)) begin('attempt', 'step')
    if (assistantMessage.is(fact) || attemptFailed.is(fact)) end('attempt')
    if (stepEnd.is(fact)) end('step')
    if (turnEnd.is(fact)) end('turn')
  }
  return [...wrong, ...open.map((what) => `a ${what} without an end`)]
}

/** Each call has one result before its step ends, on the surface in the order of the model. */
function unpairedCalls(facts: readonly Fact[]): string[] {
  const wrong: string[] = []
  const called: string[] = []
  const results = new Map<string, number>()
  for (const fact of facts) {
    if (assistantMessage.is(fact)) {
      for (const { id } of toolCallsOf(fact.data.message)) {
        if (results.has(id)) wrong.push(`call ${id} twice`)
        called.push(id)
        results.set(id, 0)
      }
    }
    if (toolCall.is(fact) && results.get(fact.data.callId) !== 0) wrong.push('a call out of place')
    if (toolResult.is(fact)) {
      const { callId } = fact.data
      results.set(callId, (results.get(callId) ?? 1) + 1)
    }
    if (stepEnd.is(fact)) {
      for (const [id, count] of results) if (count !== 1) wrong.push(`${count} results of ${id}`)
    }
  }
  const shown = foldOf(facts).surface.flatMap(({ message }) =>
    message.content.flatMap((part) => (part.type === 'tool-result' ? [part.callId] : [])),
  )
  if (shown.join() !== called.join())
    wrong.push(`results ${shown.join()} of calls ${called.join()}`)
  return wrong
}

/** What was put into the inbox is entered once, as it was then, or waits, or was taken out. */
function inboxTwice(facts: readonly Fact[]): string[] {
  const wrong: string[] = []
  const fold = new SessionFold()
  const entered = new Map<string, string>()
  let claimed: InboxState = []
  for (const fact of facts) {
    if (inboxSplice.is(fact) && fact.data.cause === 'claim') {
      const removed = new Set(fact.data.removed)
      claimed = fold.inbox.filter(({ message }) => removed.has(message.id))
      if (claimed.length < removed.size) wrong.push('a claim of what does not wait')
      const older = fold.inbox.findIndex(({ queue, held }) => queue === 'next-turn' && !held)
      const prompt = claimed.find(({ queue }) => queue === 'next-turn')
      if (prompt && fold.inbox[older] !== prompt) wrong.push('a prompt before its turn')
    }
    if (userMessage.is(fact) && fact.data.message.source.kind === 'user') {
      const { id } = fact.data.message
      if (entered.has(id)) wrong.push(`message ${id} entered twice`)
      entered.set(id, textOf(fact.data.message))
      const [first, ...rest] = claimed
      if (first?.message.id !== id) wrong.push(`message ${id} entered out of order`)
      if (first && textOf(first.message) !== entered.get(id)) wrong.push('other words were entered')
      claimed = rest
    }
    if (turnEnd.is(fact) && claimed.length > 0) wrong.push('claimed and never entered')
    fold.add(fact)
  }
  const waiting = fold.inbox.filter(({ message }) => entered.has(message.id))
  return [...wrong, ...waiting.map(({ message }) => `message ${message.id} waits and has entered`)]
}

/** Whatever plugins and providers do has a code of its own. */
function strangeEnds(facts: readonly Fact[]): string[] {
  return facts.flatMap((fact) => {
    if (!turnEnd.is(fact) && !attemptFailed.is(fact)) return []
    return fact.data.error?.code === 'INTERNAL' ? [`${fact.type}: ${fact.data.error.message}`] : []
  })
}

/** The digest of each attempt is that of the body that the log alone gives. */
function requestsThatAreNoFold(facts: readonly Fact[]): string[] {
  const fold = new SessionFold()
  return facts.flatMap((fact) => {
    const wrong = attemptStart.is(fact) && digestOf(fold) !== fact.data.digest
    fold.add(fact)
    return wrong ? [`the request of fact ${fact.seq} cannot be rebuilt`] : []
  })
}

function digestOf({ requestHeader, surface }: SessionFold): string {
  if (!requestHeader) return 'none'
  const body = bodyOf({ ...requestHeader, messages: requestMessages(surface, requestHeader) })
  return createHash('sha256').update(JSON.stringify(body)).digest('hex')
}

export function foldOf(facts: readonly Fact[]): SessionFold {
  const fold = new SessionFold()
  for (const fact of facts) fold.add(fact)
  return fold
}
