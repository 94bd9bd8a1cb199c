import type { Fact, SessionHeader } from '../session/index.ts'

/** Everything the folds know before fact `seq`: opening starts here instead of at fact 0. */
export interface Snapshot {
  readonly seq: number
  /** JSON. Only the session that wrote it gives it a meaning. */
  readonly state: unknown
}

/** A session as a list shows it, without its bodies being parsed. */
export interface SessionSummary {
  readonly header: SessionHeader
  /** Epoch milliseconds of the last append. */
  readonly updatedAt: number
  readonly bytes: number
  readonly title?: string
  readonly firstWords?: string
  readonly turns?: number
  /** Its owner has put it away. */
  readonly archived?: boolean
  /** Set when the log cannot be used as it is: the reason, for people. */
  readonly damaged?: string
  /** Another live process owns it. */
  readonly busy?: boolean
}

/** An open log. Only `mode: 'write'` may append; a batch is written whole or not at all. */
export interface SessionLog {
  readonly header: SessionHeader
  readonly mode: 'write' | 'read'
  /** What opening read: the last snapshot, the facts after it, and what the live lane still held. */
  readonly snapshot: Snapshot | undefined
  readonly tail: readonly Fact[]
  readonly live: readonly unknown[]
  /** Damage found and set aside while opening, in words for a person. */
  readonly notices: readonly string[]
  /** True when the next append is to bring a snapshot, taken before its facts. */
  readonly wantsSnapshot: boolean
  /**
   * Writes one batch; with `sync` it is on the disk when the promise resolves. Batches are written
   * in call order. Throws `STORE_WRITE_FAILED` (nothing of the batch remains), `STORE_FENCED` when
   * another owner has taken over.
   */
  append(facts: readonly Fact[], options: { sync: boolean; snapshot?: Snapshot }): Promise<void>
  /** Adds lines to the live lane; best effort, never flushed, never throws. */
  appendLive(lines: readonly unknown[]): void
  /** Empties the live lane: what it held is now a fact. */
  rotateLive(): void
  /** All facts from `from` on, from the first segment where needed. */
  read(from: number): AsyncIterable<Fact>
  putBlob(bytes: Uint8Array): Promise<string>
  /** Throws `BLOB_MISSING`. */
  getBlob(hash: string): Promise<Uint8Array>
  /**
   * Of a view: what the owner has added since it was opened or last refreshed. Throws
   * `SESSION_NOT_FOUND` once the session is gone.
   */
  refresh(): Promise<Refreshed>
  close(): Promise<void>
}

/** A new session that nobody else sees before it is whole. `close` leaves nothing of it. */
export interface StagedLog extends SessionLog {
  /** Closes it as a session like any other. Throws `STORE_ID_TAKEN`, and leaves nothing of it. */
  publish(): Promise<void>
}

export interface Refreshed {
  readonly facts: readonly Fact[]
  /** Lines that came into the live lane. */
  readonly live: readonly unknown[]
}

/** Facts that cannot be read any more, by the numbers they had. */
export interface Missing {
  readonly from: number
  /** Exclusive; `undefined` when it cannot be known whether there were any. */
  readonly to: number | undefined
  /** For people. */
  readonly reason: string
}

/** All that can still be read of a session, on both sides of any damage. */
export interface Salvage {
  readonly header: SessionHeader | undefined
  /** By number, with gaps. */
  readonly facts: AsyncIterable<Fact>
  /** Complete when `facts` has ended. */
  readonly missing: readonly Missing[]
  readonly blobs: AsyncIterable<Uint8Array>
  /** Hashes of blobs whose bytes do not match any more; complete when `blobs` has ended. */
  readonly lostBlobs: readonly string[]
}

export interface ListOptions {
  readonly project?: string
  readonly limit?: number
  /** Only those whose id begins so; case does not count. */
  readonly idPrefix?: string
  /** Sessions that others started (of a depth above 0) are left out unless asked for. */
  readonly children?: boolean
  /** Sessions that were put away are left out unless asked for. */
  readonly archived?: boolean
}

/** What may be removed. Without limits only what no session needs any more. */
export interface CollectOptions {
  /** Sessions that nothing was added to for so long. */
  readonly maxAgeDays?: number
  /** The oldest sessions until all of them together take no more. */
  readonly maxTotalBytes?: number
  /** Of those that were put away none is removed. */
  readonly keepArchived?: boolean
  /** Bytes that were set aside stay for so long; 30 days unless given. */
  readonly asideDays?: number
  /** Looks through the logs for blobs that no fact names: this takes as long as reading them. */
  readonly blobs?: boolean
  /** Says what would be removed, and removes nothing. */
  readonly dryRun?: boolean
  /** Does nothing where the last collection, of whatever process, began later than so long ago. */
  readonly everyMs?: number
  readonly signal?: AbortSignal
}

/** What was removed, or would be. */
export interface Collected {
  readonly sessions: readonly { id: string; bytes: number; reason: 'age' | 'space' }[]
  readonly blobs: number
  readonly aside: number
  /** Drafts and halves that processes left behind when they died. */
  readonly leftovers: number
  readonly bytes: number
  /** What the permissions kept from being looked into or removed, by path. */
  readonly refused: readonly string[]
}

/** What a store that keeps files can do for them. None of it is needed for a session to work. */
export interface StoreUpkeep {
  /**
   * Writes a log anew, as small as it gets, while nobody owns it; its facts stay as they are.
   * Gives its bytes before and after. Throws `SESSION_BUSY`, `STORE_DAMAGED`.
   */
  pack(id: string): Promise<{ readonly before: number; readonly after: number }>
  /** Never touches a session that a live process owns. */
  collect(options?: CollectOptions): Promise<Collected>
  /** Throws away what was only kept to be quick, and makes it anew from the logs. */
  rebuild(): Promise<void>
}

/** `ctx.store`: where session logs live. Run `storeContract` from the testkit on every one. */
export interface Store {
  /** Where it keeps things, for people. */
  readonly location: string
  /** Throws `STORE_ID_INVALID`, `STORE_ID_TAKEN`. */
  create(header: SessionHeader): Promise<SessionLog>
  /**
   * As `create`, for what is brought in from elsewhere: a process that dies meanwhile leaves no
   * half session, and `list` and `open` know nothing of it before it is published. Throws
   * `STORE_ID_INVALID`; whether the id is taken is found out when it is published.
   */
  stage(header: SessionHeader): Promise<StagedLog>
  /** Throws `SESSION_NOT_FOUND`, `SESSION_BUSY`, `STORE_DAMAGED`, `STORE_FORMAT_NEWER`. */
  open(id: string, options: { mode: 'write' | 'read'; takeOver?: boolean }): Promise<SessionLog>
  /** Newest first. One damaged session is listed as damaged and hides no other. */
  list(options?: ListOptions): Promise<readonly SessionSummary[]>
  /** Removes every copy it holds. Throws `SESSION_BUSY` while a live process owns the log. */
  delete(id: string): Promise<void>
  /**
   * Begins `header`'s session with the facts of session `id` before number `before`, and its
   * blobs; whether a live process owns that one does not matter. What is stored may be shared, but
   * each stays whole whatever becomes of the other. Throws as `create` and `open` do.
   */
  fork(id: string, header: SessionHeader, options: { before: number }): Promise<SessionLog>
  /** Reads whatever is left, and changes nothing. Throws `SESSION_NOT_FOUND`, `STORE_FORMAT_NEWER`. */
  salvage(id: string): Promise<Salvage>
  readonly upkeep?: StoreUpkeep
}

declare module '@cordage/core/kernel' {
  interface Services {
    store: Store
  }
}
