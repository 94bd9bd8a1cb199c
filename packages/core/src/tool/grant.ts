import type { Context, Services } from '../kernel/index.ts'
import type { RunningProcess, Target } from '../environment/index.ts'
import type { Actor, Effect } from '../policy/index.ts'
import { toolError } from './errors.ts'
import { createGate, type Gate } from './gate.ts'
import { createRunFiles, type MakeChange } from './run-files.ts'
import { createRunProcesses } from './run-processes.ts'
import type { Detached, RunFiles, RunProcesses } from './tool.ts'

export interface GrantOptions {
  readonly ctx: Context
  readonly tool: string
  readonly row: string
  readonly actor: () => Actor
  /** What the tool declared: kinds that are not among them are refused. */
  readonly declared: readonly Effect[]
  /** What a person allowed for this call, canonical. */
  readonly approved: readonly Effect[]
  readonly cwd: string
  readonly signal: AbortSignal
  /** What a detached process keeps, which nothing of the grant is. */
  readonly detached: Detached
  readonly change: MakeChange
}

/**
 * Files and processes bound to one call. Each use is decided on what it resolves to: the policy
 * allows it, or a person approved exactly that for this call. After `close` every use throws
 * `TOOL_DENIED`, open targets are released and processes ended but for those that were detached.
 */
export interface Grant {
  readonly gate: Gate
  readonly fs: RunFiles
  readonly processes: RunProcesses
  close(): Promise<void>
}

export function createGrant(options: GrantOptions): Grant {
  const { ctx, tool, row, cwd, signal, detached, change } = options
  const gate = createGate(options)
  const open = new Set<Target>()
  const running = new Set<RunningProcess>()
  const need = <K extends 'fs' | 'processes'>(key: K): Services[K] =>
    needService(ctx, key, tool, row)
  const fs = () => need('fs')
  const place = { gate, fs, cwd, signal }
  return {
    gate,
    fs: createRunFiles({ ...place, open, change }),
    processes: createRunProcesses({
      ...place,
      processes: () => need('processes'),
      running,
      detached,
    }),
    close: async () => {
      gate.close()
      const ends = [...running].map((child) => child.kill())
      const releases = [...open].map((target) => target[Symbol.asyncDispose]())
      await Promise.allSettled([...ends, ...releases])
    },
  }
}

/** Throws `TOOL_FAILED` that says which kind of row to add. */
export function needService<K extends 'fs' | 'processes'>(
  ctx: Context,
  key: K,
  tool: string,
  row: string,
): Services[K] {
  const service = ctx.get(key)
  if (service) return service
  const reason = `no row gives ctx.${key}; add one of the environments, such as env-local`
  throw toolError('TOOL_FAILED', { tool, row, reason })
}
