import type { PluginContext } from '@cordage/core/kernel'
import type { NewFact, Session } from '@cordage/core/session'
import { execute, type CallContext } from '@cordage/core/tool'
import { checkpointFile, type Touched } from './events.ts'
import { contentOf, isSame, stateAt, type FileState } from './file-state.ts'
import { sessionOf } from './keep.ts'

type CheckpointContext = PluginContext<'fs' | 'sessions'>

/**
 * The gate does not see what a command does to files: those that the session has changed before
 * are compared from before the command to its end, bytes, mode and kind.
 */
export function watchCommands(ctx: CheckpointContext, maxFileBytes: number): void {
  execute.use(ctx, async (call, next) => {
    const session = call.effects.some(({ kind }) => kind === 'process') && sessionOf(ctx, call)
    if (!session) return next()
    const touched = session.state(checkpointFile)
    if (Object.keys(touched).length === 0) return next()
    const before = await keepTouched(ctx, session, call.turn, maxFileBytes)
    try {
      return await next()
    } finally {
      const facts = await changesOf(ctx, session, call, { before, maxFileBytes })
      if (facts.length > 0) await session.append(facts)
    }
  })
}

/** States of the touched files; bytes that a later fact may need are kept now. */
async function keepTouched(
  ctx: CheckpointContext,
  session: Session,
  turn: number,
  maxFileBytes: number,
): Promise<ReadonlyMap<string, FileState>> {
  const states = new Map<string, FileState>()
  for (const [path, touched] of Object.entries(session.state(checkpointFile))) {
    const { bytes, ...rest } = await stateAt(ctx.fs, path, maxFileBytes)
    if (bytes && isNew(touched, turn)) await session.putBlob(bytes)
    states.set(path, rest)
  }
  return states
}

async function changesOf(
  ctx: CheckpointContext,
  session: Session,
  { turn, call }: CallContext,
  { before, maxFileBytes }: { before: ReadonlyMap<string, FileState>; maxFileBytes: number },
): Promise<NewFact[]> {
  const facts: NewFact[] = []
  for (const [path, was] of before) {
    const now = await stateAt(ctx.fs, path, maxFileBytes)
    if (isUnchanged(was, now)) continue
    const after = contentOf(now.before)
    const touched = session.state(checkpointFile)[path]
    facts.push(
      checkpointFile({
        turn,
        path,
        callId: call.id,
        by: 'command',
        ...(isNew(touched, turn) ? { before: was.before } : {}),
        ...(after === undefined ? {} : { after }),
      }),
    )
  }
  return facts
}

/** The same bytes and mode; where there are none to keep, the same thing as far as can be told. */
function isUnchanged(was: FileState, now: FileState): boolean {
  const unknown = [was, now].every(({ before }) => contentOf(before) === undefined)
  return unknown ? was.version === now.version : isSame(was.before, now.before)
}

function isNew(touched: Touched | undefined, turn: number): boolean {
  return touched?.turn !== turn
}
