import { dirname } from 'node:path'
import type { FileSystem, Target } from '@cordage/core/environment'
import type { PluginContext } from '@cordage/core/kernel'
import type { Session } from '@cordage/core/session'
import type { FilePlan } from './checkpoints.ts'
import type { Before } from './events.ts'
import { contentOf, isSame, stateAt, type FileState } from './file-state.ts'
import type { Changed } from './history.ts'

export type RestoreContext = PluginContext<'fs' | 'policy' | 'sessions'>

/** A plan with what carrying it out needs. */
export interface Planned extends FilePlan {
  readonly wanted: Before
  readonly present: FileState
}

/** Compares one file with what it should be, and decides on it as on any write of an agent. */
export async function planFile(
  ctx: RestoreContext,
  session: Session,
  { path, wanted, left }: Changed,
  maxFileBytes: number,
): Promise<Planned> {
  const action = wanted === null ? 'remove' : 'write'
  const nothing: FileState = { before: null }
  const planned = (state: FilePlan['state'], present = nothing, reason?: string): Planned => {
    return { path, action, wanted, present, state, ...(reason === undefined ? {} : { reason }) }
  }
  const denied = mayWrite(ctx, session, path)
  if (denied !== undefined) return planned('refused', nothing, denied)
  if (wanted && 'notKept' in wanted) return planned('refused', nothing, `then ${wanted.notKept}`)
  const present = await stateAt(ctx.fs, path, maxFileBytes)
  if (isSame(wanted, present.before)) return planned('same', present)
  if (present.before && 'notKept' in present.before) {
    return planned('refused', present, `now ${present.before.notKept}`)
  }
  if (left.has(contentOf(present.before))) return planned('ready', present)
  const now = present.before === null ? 'is gone' : 'was changed'
  return planned('conflict', present, `it ${now} after the session left it`)
}

/** Why a rewind may not write there; it has the authority of an agent at work in the project. */
export function mayWrite(
  { policy }: RestoreContext,
  { id, header }: Session,
  path: string,
): string | undefined {
  const { project } = header
  const authority = { mode: 'workspace-write', writableRoots: [project] } as const
  const actor = { sessionId: id, agentId: id, project, authority }
  const decision = policy.decide({ kind: 'fs:write', path }, actor)
  return decision.answer === 'allow' ? undefined : decision.reason
}

/** Opens exactly `path`; throws for what is reached through a symbolic link. */
export async function openExactly(
  fs: FileSystem,
  path: string,
  parents?: (path: string) => void,
): Promise<Target | string> {
  const target = await fs.target(path, parents ? { parents } : {})
  if (target.path === path) return target
  await target[Symbol.asyncDispose]()
  return `${dirname(path)} or the file itself is a symbolic link now`
}
