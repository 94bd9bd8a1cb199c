import { environmentError } from '../environment/index.ts'
import type { HarnessError } from '../error/index.ts'
import { sessionDirectory } from '../session/index.ts'
import type { ToolBatch } from './tool-batch.ts'
import type { CallContext } from './hooks.ts'
import type { Grant } from './grant.ts'
import { needService } from './grant.ts'
import type { ToolRun } from './tool.ts'

/** How a batch stands. */
export interface Place {
  /** Moved by calls that change the session's directory. */
  cwd: string
  /** Why a call was refused for want of budget. */
  refused?: HarnessError
}

export interface RunOptions {
  readonly batch: ToolBatch
  readonly context: CallContext
  readonly grant: Grant
  readonly place: Place
  readonly redact: (text: string) => string
}

/** One call as its body sees it. */
export function createRun({ batch, context, grant, place, redact }: RunOptions): ToolRun {
  const { session, scope, turn, step, project, seen } = batch
  const { call, row, signal } = context
  const lane = { turn, step, kind: 'tool-output', callId: call.id, name: call.name } as const

  return Object.freeze({
    callId: call.id,
    sessionId: session.id,
    scope,
    project,
    cwd: place.cwd,
    signal,
    fs: grant.fs,
    processes: grant.processes,
    seen,
    progress: (text: string) => {
      if (grant.gate.closed) return
      session.delta({ ...lane, attempt: session.turn.attempt, text: redact(text) })
    },
    putBlob: async (bytes: Uint8Array) => {
      if (grant.gate.closed) grant.gate.deny('the call has ended')
      return session.putBlob(bytes)
    },
    setCwd: async (path: string) => {
      const fs = needService(batch.ctx, 'fs', call.name, row)
      await using target = await fs.target(grant.fs.resolve(path))
      const directory = { kind: 'fs:read', path: target.path } as const
      if (!grant.gate.lets(directory)) grant.gate.deny(`it may not work in ${target.path}`)
      const stat = await target.stat()
      if (!stat) throw environmentError('FILE_NOT_FOUND', { path: target.path })
      if (stat.kind !== 'directory') {
        throw environmentError('FILE_NOT_DIRECTORY', { path: target.path })
      }
      if (grant.gate.closed) grant.gate.deny('the call has ended')
      await session.append([sessionDirectory({ cwd: target.path })])
      place.cwd = target.path
    },
  })
}
