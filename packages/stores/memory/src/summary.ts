import { textOf } from '@cordage/core/message'
import { sessionTitle, turnStart, userMessage, type Fact } from '@cordage/core/session'
import type { SessionSummary } from '@cordage/core/store'
import { isOwned, type Stored } from './stored.ts'

const FIRST_WORDS = 80

export function summarise(stored: Stored): SessionSummary {
  const { header, facts, bytes, updatedAt } = stored
  const title = facts.findLast((fact) => sessionTitle.is(fact))?.data
  const firstWords = facts.find(isTyped)?.data.message
  return {
    header,
    updatedAt,
    bytes,
    turns: facts.filter((fact) => turnStart.is(fact)).length,
    ...(title ? { title: title.title } : {}),
    ...(firstWords ? { firstWords: textOf(firstWords).slice(0, FIRST_WORDS) } : {}),
    ...(isOwned(stored) ? { busy: true } : {}),
  }
}

function isTyped(fact: Fact): fact is Fact<Parameters<typeof userMessage>[0]> {
  return userMessage.is(fact) && fact.data.message.source.kind === 'user'
}
