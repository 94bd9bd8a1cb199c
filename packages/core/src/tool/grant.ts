import type { Context } from '../kernel/index.ts'
import type { Actor, Effect } from '../policy/index.ts'
import type { RunFiles, RunProcesses } from './tool.ts'

export interface GrantOptions {
  readonly ctx: Context
  readonly actor: Actor
  /** What the tool declared: kinds that are not among them are refused. */
  readonly declared: readonly Effect[]
  /** What a person allowed for this call. */
  readonly approved: readonly Effect[]
  readonly cwd: string
  readonly signal: AbortSignal
}

/**
 * Files and processes bound to one call. Each use is decided on what it resolves to: the policy
 * allows it, or a person approved exactly that for this call. After `close` every use throws
 * `TOOL_DENIED`, open targets are released and processes ended.
 */
export interface Grant {
  readonly fs: RunFiles
  readonly processes: RunProcesses
  close(): Promise<void>
}
