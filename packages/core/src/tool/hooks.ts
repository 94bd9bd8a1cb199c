import type { Target } from '../environment/index.ts'
import { defineHook, defineNotice } from '../kernel/index.ts'
import type { ToolCallPart } from '../message/index.ts'
import type { Actor, Effect } from '../policy/index.ts'
import type { Session } from '../session/index.ts'
import type { CappedContent } from './content.ts'
import { guardChain, type GuardChain } from './guard-chain.ts'
import type { ToolContent } from './tool.ts'

/** One call as hooks see it. `args` are validated; nothing here can be changed. */
export interface CallContext {
  readonly call: ToolCallPart
  /** The row of the tool. */
  readonly row: string
  readonly args: unknown
  /** What the tool declared, with resolved paths. */
  readonly effects: readonly Effect[]
  readonly actor: Actor
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}

/** What the model will see of a call whose body has ended. */
export interface Rendering {
  readonly content: readonly ToolContent[]
  readonly isError: boolean
}

/** A call whose body has ended, before its result is logged. */
export interface EndedCall extends CallContext, Rendering {
  readonly value: unknown
}

/** What became of a call, after its result was logged. */
export interface CallOutcome extends Rendering {
  readonly call: ToolCallPart
  readonly turn: number
  readonly step: number
  readonly sessionId: string
  /** Absent where there is no ordinary result. */
  readonly value?: unknown
  readonly error?: { readonly code: string; readonly message: string }
  readonly durationMs: number
}

/**
 * Judges a call before its body runs. Every guard is asked until one denies and the strictest
 * answer wins, so none can lift another's; one that throws denies, naming its row.
 */
export const preExecute: GuardChain<CallContext> = guardChain<CallContext>('tools/pre-execute')

/**
 * Wraps the body: `next()` runs it and gives its value. Arguments stay as they were decided on,
 * whatever is passed to `next`.
 */
export const execute = defineHook<CallContext, unknown>('tools/execute')

/** A change of one file, which the policy has allowed and which has not been made. */
export interface FileChange extends CallContext {
  /** Resolved. */
  readonly path: string
  /** What the file will hold; absent where it is removed. */
  readonly bytes?: Uint8Array
  /** The file as it is now. */
  readonly file: Pick<Target, 'stat' | 'read'>
}

/**
 * Around each write and removal of a file by a call: `next()` makes it. One that throws, or does
 * not call `next`, keeps the file as it is, and the call fails.
 */
export const changeFile = defineHook<FileChange, void>('tools/change-file')

/** Rewrites what the model sees of a result (`next()` gives it); the value stays as it is. */
export const postExecute = defineHook<EndedCall, Rendering>('tools/post-execute')

/** A call however it ended, right before its result is logged. */
export interface FinalCall extends Rendering {
  readonly session: Session
  readonly call: ToolCallPart
  /** Absent where there is no ordinary result. */
  readonly value?: unknown
}

/**
 * The last word on what the model sees of a call, once for each, errors included. The content is
 * clean by then: whatever looks like a note of the harness is one that a handler has added.
 * `next()` gives it, cut where it is too long, and counts where a handler fails.
 */
export const finalizeContent = defineHook<FinalCall, CappedContent>('tools/finalize-content')

/** Announces each result once it is logged. */
export const resultNotice = defineNotice<CallOutcome>('tools/result')
