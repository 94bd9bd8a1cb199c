import { typedOf } from '../message/index.ts'
import {
  inboxSplice,
  sessionArchived,
  sessionTitle,
  userMessage,
  type Fact,
  type FoldSnapshot,
} from '../session/index.ts'
import type { SessionSummary, Snapshot } from './store.ts'

const FIRST_WORDS = 80

/** What tells sessions apart in a list. */
export type SessionWords = Pick<SessionSummary, 'title' | 'firstWords' | 'archived'>

/** The words of a session of which `facts`, in order, are some: its beginning is enough. */
export function wordsOf(facts: readonly Fact[]): SessionWords {
  let title: string | undefined
  let firstWords: string | undefined
  let archived: boolean | undefined
  for (const fact of facts) {
    try {
      if (sessionTitle.is(fact)) title = sessionTitle.schema.parse(fact.data).title
      else if (sessionArchived.is(fact)) archived = fact.data.archived === true
      else firstWords ??= saidIn(fact)
    } catch {
      // A record that is not what its type says has no words; opening reports it.
    }
  }
  return {
    ...(title ? { title } : {}),
    ...(firstWords ? { firstWords } : {}),
    ...(archived === undefined ? {} : { archived }),
  }
}

/** Whether `wordsOf` looks at facts of this type. */
export function hasWords(type: string): boolean {
  return wordTypes.includes(type)
}

const wordTypes = [sessionTitle, sessionArchived, inboxSplice, userMessage].map(({ type }) => type)

/** What was known of a session when the snapshot was taken. */
export function wordsAt(snapshot: Snapshot): Pick<SessionWords, 'title' | 'archived'> {
  const { states } = (snapshot.state as Partial<FoldSnapshot> | null)?.states ?? {}
  const title = states?.[sessionTitle.type]
  const archived = states?.[sessionArchived.type]
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof archived === 'boolean' ? { archived } : {}),
  }
}

/** A message is queued before it is claimed: what never came to a turn was said all the same. */
function saidIn(fact: Fact): string | undefined {
  const inserted = inboxSplice.is(fact) ? (fact.data.inserted ?? []) : []
  const messages = inserted.map(({ message }) => message)
  if (userMessage.is(fact)) messages.push(fact.data.message)
  const typed = messages.map(typedOf).find((text) => text.trim() !== '')
  return typed?.replaceAll(/\s+/g, ' ').trim().slice(0, FIRST_WORDS)
}
