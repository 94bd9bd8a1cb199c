import type { EpisodicMemory, MemoryService, Recalled } from '@cordage/core/compaction'
import { textOf, type Message } from '@cordage/core/message'
import {
  assistantMessage,
  compactionEnd,
  compactionSummary,
  toolResult,
  userMessage,
  type Episode,
  type Fact,
  type Session,
} from '@cordage/core/session'

/** Reads episodes from the log each time it is asked: what a resume or a compaction adds is there. */
export function memoryOf(session: Session): MemoryService {
  const known = (): readonly Episode[] => {
    const ended = new Set(session.state(compactionEnd).ended)
    return session.state(compactionSummary).filter(({ id }) => ended.has(id))
  }
  return {
    async listEpisodes() {
      const episodes: EpisodicMemory[] = []
      for (const episode of known()) episodes.push(await read(session, episode))
      return episodes
    },
    async findEpisode(snapshotId) {
      const episode = known().find(({ id }) => id === snapshotId)
      return episode && read(session, episode)
    },
    async messagesOf({ covers }, { offset, limit }) {
      const messages: Recalled[] = []
      let at = 0
      for await (const fact of session.read(covers.from)) {
        if (fact.seq > covers.to) break
        const message = messageOf(fact)
        if (!message) continue
        if (messages.length === limit) return { messages, next: offset + limit }
        if (at >= offset) messages.push({ seq: fact.seq, message })
        at += 1
      }
      return { messages }
    },
  }
}

async function read(session: Session, { id, seq, covers }: Episode): Promise<EpisodicMemory> {
  for await (const fact of session.read(seq)) {
    if (!compactionSummary.is(fact)) break
    const { message, pinned = [] } = fact.data
    return { id, covers, summary: textOf(message), pinned }
  }
  return { id, covers, summary: '', pinned: [] }
}

/** What people and models said, and what tools gave: snapshots of surroundings are not recalled. */
function messageOf(fact: Fact): Message | undefined {
  if (userMessage.is(fact) || assistantMessage.is(fact)) return fact.data.message
  if (!toolResult.is(fact)) return undefined
  const { messageId, callId, part } = fact.data
  return { id: messageId, role: 'tool', content: [part], source: { kind: 'tool', callId } }
}
