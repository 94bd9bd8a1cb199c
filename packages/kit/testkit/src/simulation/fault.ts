/** One call of an `Io`, of a file or of a lock. */
export interface IoCall {
  /** Counted from 1 on, for each process. */
  readonly number: number
  readonly operation: IoOperation
  readonly path: string
  /** What a `write` is asked to write. */
  readonly bytes?: Uint8Array
}

export type IoOperation =
  | 'open'
  | 'stat'
  | 'list'
  | 'makeDirectory'
  | 'syncDirectory'
  | 'rename'
  | 'link'
  | 'remove'
  | 'lock'
  | 'locked'
  | 'lock.current'
  | 'lock.release'
  | 'file.read'
  | 'file.write'
  | 'file.sync'
  | 'file.truncate'
  | 'file.size'
  | 'file.close'

/** Where in a call something happens: `within` has some of its effect, where it has parts. */
export type When = 'before' | 'within' | 'after'

/**
 * `crash` ends the process there; `fail` reports that code of the system. A `file.sync` that fails
 * loses what was not on the disk yet: the next one succeeds, and never writes it. `short` lets a
 * read or a write take at most so many bytes.
 */
export type Fault =
  | { readonly crash: When }
  | { readonly fail: string; readonly when?: When }
  | { readonly short: number }

/** Asked before each call what goes wrong with it. */
export type Faults = (call: IoCall) => Fault | undefined

/** What the system throws. */
export function systemFailure(
  code: string,
  { operation, path }: Pick<IoCall, 'operation' | 'path'>,
): Error {
  return Object.assign(new Error(`${code}: simulated, ${operation} '${path}'`), { code })
}
