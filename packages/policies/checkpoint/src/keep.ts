import type { PluginContext } from '@cordage/core/kernel'
import type { Session } from '@cordage/core/session'
import { changeFile, type FileChange } from '@cordage/core/tool'
import { checkpointFile } from './events.ts'
import { contentOf, hashOf, readState } from './file-state.ts'

/** Before a call changes a file, what it holds is kept and logged, once a turn. */
export function keepChanges(ctx: PluginContext<'sessions'>, maxFileBytes: number): void {
  changeFile.use(ctx, async (change, next) => {
    const session = sessionOf(ctx, change)
    if (!session) return next()
    const unmade = await keep(session, change, maxFileBytes)
    try {
      await next()
    } catch (error) {
      // A log that cannot be written says so to the loop as well: this failure is the first one.
      await session.append([unmade], { sync: false }).catch(() => {})
      throw error
    }
  })
}

export function sessionOf(
  ctx: PluginContext<'sessions'>,
  { actor }: Pick<FileChange, 'actor'>,
): Session | undefined {
  return ctx.sessions.list().find(({ id, writable }) => id === actor.sessionId && writable)
}

/** Logs the change that is coming; gives the fact that takes it back. */
async function keep(session: Session, change: FileChange, maxFileBytes: number) {
  const { path, turn, call, bytes } = change
  const known = session.state(checkpointFile)[path]
  const place = { turn, path, callId: call.id }
  const after = bytes === undefined ? null : hashOf(bytes)
  if (known?.turn === turn) {
    await session.append([checkpointFile({ ...place, by: 'call', after })])
    return failed(place, known.left)
  }
  const state = await readState(change.file, maxFileBytes)
  if (state.bytes) await session.putBlob(state.bytes)
  await session.append([checkpointFile({ ...place, by: 'call', before: state.before, after })])
  return failed(place, known ? known.left : contentOf(state.before))
}

function failed(
  place: { turn: number; path: string; callId: string },
  after: string | null | undefined,
) {
  return checkpointFile({ ...place, by: 'failed', ...(after === undefined ? {} : { after }) })
}
