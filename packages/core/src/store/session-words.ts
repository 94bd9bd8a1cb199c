import { textOf } from '../message/index.ts'
import {
  inboxSplice,
  sessionTitle,
  userMessage,
  type Fact,
  type FoldSnapshot,
} from '../session/index.ts'
import type { SessionSummary, Snapshot } from './store.ts'

const FIRST_WORDS = 80

/** What tells sessions apart in a list. */
export type SessionWords = Pick<SessionSummary, 'title' | 'firstWords'>

/** The words of a session of which `facts`, in order, are some: its beginning is enough. */
export function wordsOf(facts: readonly Fact[]): SessionWords {
  let title: string | undefined
  let firstWords: string | undefined
  for (const fact of facts) {
    try {
      if (sessionTitle.is(fact)) title = sessionTitle.schema.parse(fact.data).title
      else firstWords ??= saidIn(fact)
    } catch {
      // A record that is not what its type says has no words; opening reports it.
    }
  }
  return { ...(title ? { title } : {}), ...(firstWords ? { firstWords } : {}) }
}

/** Whether `wordsOf` looks at facts of this type. */
export function hasWords(type: string): boolean {
  return [sessionTitle.type, inboxSplice.type, userMessage.type].includes(type)
}

/** The title that a session had when the snapshot was taken. */
export function titleOf(snapshot: Snapshot): string | undefined {
  const { states } = (snapshot.state as Partial<FoldSnapshot> | null)?.states ?? {}
  const title = states?.[sessionTitle.type]
  return typeof title === 'string' ? title : undefined
}

/** A message is queued before it is claimed: what never came to a turn was said all the same. */
function saidIn(fact: Fact): string | undefined {
  const inserted = inboxSplice.is(fact) ? (fact.data.inserted ?? []) : []
  const messages = inserted.map(({ message }) => message)
  if (userMessage.is(fact)) messages.push(fact.data.message)
  const typed = messages.find(({ source }) => source.kind === 'user')
  if (typed === undefined) return undefined
  return textOf(typed).replaceAll(/\s+/g, ' ').trim().slice(0, FIRST_WORDS)
}
