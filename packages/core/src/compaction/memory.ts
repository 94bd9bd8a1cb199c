import type { Message } from '../message/index.ts'
import type { Session } from '../session/index.ts'
import type { EpisodicMemory } from './compressor.ts'

/** One message of an episode as it was said. */
export interface Recalled {
  /** The fact that holds it. */
  readonly seq: number
  readonly message: Message
}

export interface RecalledPage {
  readonly messages: readonly Recalled[]
  /** Where the next page begins; absent after the last message. */
  readonly next?: number
}

/**
 * The episodes of one session, as its log has them now. Read-only: whoever holds it can change
 * neither the history nor what is remembered of it.
 */
export interface MemoryService {
  /** Oldest first. */
  listEpisodes(): Promise<readonly EpisodicMemory[]>
  findEpisode(snapshotId: string): Promise<EpisodicMemory | undefined>
  /** The messages that an episode stands for, word for word, from number `offset` on. */
  messagesOf(
    episode: EpisodicMemory,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<RecalledPage>
}

/** `ctx.memory` */
export interface Memory {
  of(session: Session): MemoryService
}

declare module '@cordage/core/kernel' {
  interface Services {
    memory: Memory
  }
}
