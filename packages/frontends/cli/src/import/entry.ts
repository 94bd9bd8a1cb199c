import type { Usage } from '@cordage/core/message'
import type { TurnEndReason } from '@cordage/core/session'

export const importFormats = ['claude-code', 'codex', 'opencode', 'pi', 'dsh', 'cordage'] as const
export type ImportFormat = (typeof importFormats)[number]

/** A picture that a transcript holds within itself. */
export interface EntryImage {
  readonly type: 'image'
  readonly mediaType: string
  readonly base64: string
}
export interface EntryText {
  readonly type: 'text'
  readonly text: string
}
export interface EntryReasoning {
  readonly type: 'reasoning'
  readonly text: string
}
export interface EntryCall {
  readonly type: 'call'
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

/** What is known of a session as a whole; later ones add to the earlier. */
export interface About {
  readonly kind: 'about'
  /** The name that the other program gave it. */
  readonly session?: string | undefined
  /** Where it worked; absolute. */
  readonly cwd?: string | undefined
}

interface Timed {
  /** Epoch milliseconds; that of the entry before where it is not known. */
  readonly time: number | undefined
  /** What a later summary calls this entry. */
  readonly mark?: string | undefined
}

export interface UserEntry extends Timed {
  readonly kind: 'user'
  readonly parts: readonly (EntryText | EntryImage)[]
  /** What put it there, where no person typed it. */
  readonly form?: 'notice' | 'instructions' | 'summary' | 'relay' | undefined
  /** It came into a turn that was going on. */
  readonly joins?: boolean | undefined
}
export interface AnswerEntry extends Timed {
  readonly kind: 'answer'
  readonly provider: string
  readonly model: string
  readonly parts: readonly (EntryText | EntryReasoning | EntryCall)[]
  /** Entries of the same key are pieces of one answer. */
  readonly key?: string | undefined
  readonly usage?: Usage | undefined
  readonly costUsd?: number | undefined
  readonly finish?: string | undefined
  readonly interrupted?: boolean | undefined
}
export interface ResultEntry extends Timed {
  readonly kind: 'result'
  readonly callId: string
  readonly parts: readonly (EntryText | EntryImage)[]
  readonly isError: boolean
  readonly durationMs?: number | undefined
}
/** Tokens of the answer that came last, where they are told behind it. */
export interface UsageEntry extends Timed {
  readonly kind: 'usage'
  readonly usage: Usage
}
export interface FailedEntry extends Timed {
  readonly kind: 'failed'
  readonly code: string
  readonly message: string
  /** What had arrived of the answer. */
  readonly partial?: string | undefined
}
/**
 * A text that takes the place of all before it: up to the entry `keepFrom`, or up to and with the
 * entry `last`, where one of them is named.
 */
export interface SummaryEntry extends Timed {
  readonly kind: 'summary'
  readonly text: string
  readonly keepFrom?: string | undefined
  readonly last?: string | undefined
}
export interface TitleEntry extends Timed {
  readonly kind: 'title'
  readonly title: string
  readonly by: 'user' | 'model'
}
export interface EndEntry extends Timed {
  readonly kind: 'end'
  readonly reason: TurnEndReason
}

export type TimedEntry =
  | UserEntry
  | AnswerEntry
  | ResultEntry
  | UsageEntry
  | FailedEntry
  | SummaryEntry
  | TitleEntry
  | EndEntry

/**
 * What a transcript says, whichever program wrote it, in order. `thread` names a session that the
 * main one started and whose entries stand among its own.
 */
export type Entry = (About | TimedEntry) & { readonly thread?: string | undefined }
