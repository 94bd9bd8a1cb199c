import type { Session } from '@cordage/core/session'

/** Before a turn began, or before the last rewind. */
export type RewindPoint = { readonly turn: number } | 'undo'

/**
 * What a rewind does with one file. `conflict`: it is not as the session left it. `refused`: it
 * cannot be put back at all, whatever is forced.
 */
export interface FilePlan {
  readonly path: string
  readonly state: 'ready' | 'same' | 'conflict' | 'refused'
  readonly action: 'write' | 'remove'
  /** Why it is a conflict or refused. */
  readonly reason?: string
}

/** `ctx.checkpoints`: puts back the files that a session changed. */
export interface Checkpoints {
  /** What `restore` would do; touches nothing. */
  plan(session: Session, to: RewindPoint): Promise<readonly FilePlan[]>
  /**
   * Puts files back, one whole file after the other; run again it completes what was interrupted.
   * What they hold now is kept first. The session has to be writable, without an open turn. Throws
   * `CHECKPOINT_CONFLICT` before any file is touched, `CHECKPOINT_TURN_UNKNOWN`,
   * `CHECKPOINT_NOTHING_TO_UNDO`.
   */
  restore(
    session: Session,
    to: RewindPoint,
    options?: { readonly force?: boolean },
  ): Promise<readonly FilePlan[]>
}

declare module '@cordage/core/kernel' {
  interface Services {
    checkpoints: Checkpoints
  }
}
