import { defineHook } from '../kernel/index.ts'
import type { Fact, SessionHeader } from '../session/index.ts'

/** Whose words they are, so that what a tool printed is never taken for what a person said. */
export type HitSource = 'user' | 'model' | 'tool' | 'plugin'

export interface SearchRequest {
  /**
   * Words that all have to be there, in any order; `"a phrase"` in quotes; `begin*`. Case and
   * diacritics do not count. In scripts without spaces any two characters in a row are found.
   */
  readonly text: string
  /** Only sessions of exactly this project directory. */
  readonly project?: string
  /** Only the history of this session, with what it inherited where it was forked. */
  readonly session?: string
  /** Leaves this session out. */
  readonly except?: string
  /** Only facts of these types. */
  readonly types?: readonly string[]
  /** Epoch milliseconds, inclusive. */
  readonly since?: number
  readonly until?: number
  /** Sessions that agents started are left out unless asked for, or named by `session`. */
  readonly children?: boolean
  /** Sessions that were put away are left out unless asked for, or named by `session`. */
  readonly archived?: boolean
  readonly limit?: number
  /** `next` of the page before. */
  readonly cursor?: string
  /** How long to wait for what is not in the index yet; the answer says what is missing then. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

/** A fact that was found; `session` and `seq` are where it is to be read. */
export interface EventHit {
  readonly session: string
  readonly project: string
  /** Of the session: its title, else how it began. */
  readonly title: string
  readonly seq: number
  readonly time: number
  readonly type: string
  readonly source: HitSource
  /** The words found, and what stands around them, on one line. */
  readonly snippet: string
}

/** A session that was found, by the best of its hits. */
export interface SessionMatch extends EventHit {
  /** How many of its facts were found, of those that were looked at. */
  readonly events: number
}

export interface SearchPage<Hit> {
  /** The best first, the newer first among equals. */
  readonly hits: readonly Hit[]
  /** Absent on the last page. */
  readonly next?: string
  /** How many sessions are not wholly in the index yet. */
  readonly behind: number
  /** Sessions of which something cannot be read. */
  readonly unreadable: readonly string[]
}

/** A session as its relatives see it. */
export interface SessionNode {
  readonly header: SessionHeader
  readonly title: string
}

export interface Lineage {
  readonly session: SessionNode
  /** Those that it comes from, the nearest first, as far as they are there. */
  readonly ancestors: readonly SessionNode[]
  /** Forks of it and those that its agents started, the oldest first. */
  readonly children: readonly SessionNode[]
}

/** `ctx.sessionQuery`: what was said and done in any session of the store. */
export interface SessionQuery {
  /**
   * Both throw `SESSION_QUERY_SEARCH_DISABLED`, `SESSION_QUERY_INVALID`, `SESSION_NOT_FOUND` and
   * `SESSION_QUERY_INDEX_FAILED`.
   */
  sessions(request: SearchRequest): Promise<SearchPage<SessionMatch>>
  events(request: SearchRequest): Promise<SearchPage<EventHit>>
  /** Needs no index. Throws `SESSION_NOT_FOUND`. */
  trace(id: string): Promise<Lineage>
  /**
   * Facts from number `from` up to but without `to`, exactly as they are logged; needs no index.
   * Throws `SESSION_NOT_FOUND`, `SESSION_QUERY_EVENT_NOT_FOUND` where there is none, and the
   * store's codes.
   */
  read(
    id: string,
    range: { readonly from: number; readonly to: number },
  ): Promise<{ readonly header: SessionHeader; readonly facts: readonly Fact[] }>
  /** Throws the index away and makes it anew. */
  rebuild(): Promise<void>
}

/**
 * Runs around every removal of a session from a store that keeps files, so that whoever has copied
 * something out of its log removes that as well. Gives whether the session was removed.
 */
export const sessionRemoval = defineHook<{ readonly id: string }, boolean>('store/remove')

declare module '@cordage/core/kernel' {
  interface Services {
    sessionQuery: SessionQuery
  }
}
