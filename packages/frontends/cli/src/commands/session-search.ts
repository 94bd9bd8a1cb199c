import type { RootContext } from '@cordage/core/kernel'
import { textOf } from '@cordage/core/message'
import {
  assistantMessage,
  toolCall,
  toolResult,
  userMessage,
  type Fact,
} from '@cordage/core/session'
import type { Store } from '@cordage/core/store'
import { oneLine } from '../print/table.ts'

/** A place in a session where the words stand. */
export interface SessionHit {
  readonly id: string
  readonly seq: number
  readonly time: number
  readonly type: string
  readonly text: string
}

const AROUND = 60

/** Reads the sessions, the newest first, until `limit` places are found; case does not count. */
export async function searchSessions(
  ctx: RootContext,
  store: Store,
  text: string,
  { limit, project }: { limit: number; project?: string },
): Promise<SessionHit[]> {
  const wanted = text.toLowerCase()
  const hits: SessionHit[] = []
  for (const { header, damaged } of await store.list(project === undefined ? {} : { project })) {
    if (damaged !== undefined) continue
    const session = await ctx.get('sessions')?.open(header.id, { mode: 'read' })
    try {
      for await (const fact of session?.read(0) ?? []) {
        const hit = hitOf(header.id, fact, wanted)
        if (hit) hits.push(hit)
        if (hits.length >= limit) return hits
      }
    } finally {
      await session?.close()
    }
  }
  return hits
}

function hitOf(id: string, fact: Fact, wanted: string): SessionHit | undefined {
  const text = wordsOf(fact)
  const at = text.toLowerCase().indexOf(wanted)
  if (at < 0) return undefined
  const around = text.slice(Math.max(0, at - AROUND), at + wanted.length + AROUND)
  return { id, seq: fact.seq, time: fact.time, type: fact.type, text: oneLine(around, 200) }
}

/** What a person would look for in a fact. */
function wordsOf(fact: Fact): string {
  if (userMessage.is(fact) || assistantMessage.is(fact)) return textOf(fact.data.message)
  if (toolCall.is(fact)) return `${fact.data.name} ${fact.data.arguments}`
  if (toolResult.is(fact)) return textOf(fact.data.part)
  return ''
}
