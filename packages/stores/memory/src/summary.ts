import { turnStart } from '@cordage/core/session'
import { wordsOf, type SessionSummary } from '@cordage/core/store'
import { isOwned, type Stored } from './stored.ts'

export function summarise(stored: Stored): SessionSummary {
  const { header, facts, bytes, updatedAt } = stored
  return {
    header,
    updatedAt,
    bytes,
    turns: facts.filter((fact) => turnStart.is(fact)).length,
    ...wordsOf(facts),
    ...(isOwned(stored) ? { busy: true } : {}),
  }
}
