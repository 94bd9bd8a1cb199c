import type { EventHit, HitSource, SessionMatch } from '@cordage/core/store'

/** What the index holds of a fact: `[seq, time, type, source, text]`. */
export type Entry = readonly [seq: number, time: number, type: string, HitSource, text: string]

/** What is known of a session whose facts before number `next` are in the index. */
export interface Known {
  readonly id: string
  /** Of the header: another one of that id is another session. */
  readonly createdAt: number
  /** Facts before this one are in the index of the session that it was forked from. */
  readonly base: number
  readonly next: number
  /** Digest of fact `next - 1`, which changes when a log is not what it was; '' where none is. */
  readonly last: string
  /** The log as it was when all of it was in the index. */
  readonly stamp: string
}

/** What search and hits need to know of a session. */
export interface About {
  readonly project: string
  readonly title: string
  readonly parent: string
  readonly child: boolean
  readonly archived: boolean
}

/** Facts from number `from` up to but without `known.next`, those without words left out. */
export interface Batch {
  readonly known: Known
  readonly about: About
  readonly from: number
  readonly entries: readonly Entry[]
}

/** What a thread is asked for, but for what only the other side needs. */
export interface Wanted {
  readonly text: string
  readonly project?: string | undefined
  readonly session?: string | undefined
  readonly except?: string | undefined
  readonly types?: readonly string[] | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly children?: boolean | undefined
  readonly archived?: boolean | undefined
  readonly bySession: boolean
  readonly limit: number
  readonly offset: number
  /** The newest entry of the first page. */
  readonly newest?: number | undefined
}

export interface Found {
  readonly hits: readonly (EventHit | SessionMatch)[]
  readonly more: boolean
  readonly newest: number
}

/** By kind, what the thread of the index is asked and what it answers. */
export interface Calls {
  /** All that is known; `undefined` where nothing has changed since `version`. */
  known: [
    { readonly version: number },
    { version: number; known: Known[] | undefined; kept: boolean },
  ]
  /** Gives the number from which facts are wanted next: less than the batch where it began too late. */
  put: [Batch, number]
  forget: [{ readonly ids: readonly string[] }, void]
  search: [Wanted, Found]
  clear: [Record<string, never>, void]
  close: [Record<string, never>, void]
}

export type Call = {
  [Kind in keyof Calls]: { readonly number: number; kind: Kind; ask: Calls[Kind][0] }
}[keyof Calls]

export type Answer =
  | { readonly number: number; readonly value: unknown }
  /** `again`: the index was spoiled and has begun anew, so that asking once more may help. */
  | { readonly number: number; readonly failed: string; readonly again: boolean }
