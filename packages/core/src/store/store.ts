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
  /** True when the next append begins a segment: pass a snapshot taken before its facts. */
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
  close(): Promise<void>
}

export interface ListOptions {
  readonly project?: string
  readonly limit?: number
  /** Only those whose id begins so; case does not count. */
  readonly idPrefix?: string
  /** Sessions that others started (of a depth above 0) are left out unless asked for. */
  readonly children?: boolean
}

/** `ctx.store`: where session logs live. Run `storeContract` from the testkit on every one. */
export interface Store {
  /** Where it keeps things, for people. */
  readonly location: string
  /** Throws `STORE_ID_INVALID`, `STORE_ID_TAKEN`. */
  create(header: SessionHeader): Promise<SessionLog>
  /** Throws `SESSION_NOT_FOUND`, `SESSION_BUSY`, `STORE_DAMAGED`, `STORE_FORMAT_NEWER`. */
  open(id: string, options: { mode: 'write' | 'read'; takeOver?: boolean }): Promise<SessionLog>
  /** Newest first. One damaged session is listed as damaged and hides no other. */
  list(options?: ListOptions): Promise<readonly SessionSummary[]>
  /** Removes every copy it holds. Throws `SESSION_BUSY` while a live process owns the log. */
  delete(id: string): Promise<void>
}

declare module '@cordage/core/kernel' {
  interface Services {
    store: Store
  }
}
