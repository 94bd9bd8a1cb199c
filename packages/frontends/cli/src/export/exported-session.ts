import type { Fact, SessionHeader } from '@cordage/core/session'

/** A session as it is taken out: everything is read again whenever it is asked for. */
export interface ExportedSession {
  readonly header: SessionHeader
  /** Where the log was damaged, in words for people. */
  readonly notices: readonly string[]
  read(): AsyncIterable<Fact>
  /** `undefined` for bytes that are not there, or no longer what their name says. */
  blob(hash: string): Promise<Uint8Array | undefined>
  /** The sessions that it started, each read when it is its turn. */
  children(): AsyncIterable<ExportedSession>
}
