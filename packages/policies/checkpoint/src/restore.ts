import { isHarnessError } from '@cordage/core/error'
import { newId, textMessage } from '@cordage/core/message'
import { contextMessage, type NewFact, type Session } from '@cordage/core/session'
import { escapeFileName } from '@cordage/core/tool'
import type { FilePlan, RewindPoint } from './checkpoints.ts'
import { checkpointError } from './errors.ts'
import { checkpointFile, checkpointRestored, checkpointRestoring, type Before } from './events.ts'
import { contentOf } from './file-state.ts'
import { readHistory, type History } from './history.ts'
import { mayWrite, openExactly, planFile, type Planned, type RestoreContext } from './plan.ts'

export interface RestoreOptions {
  readonly maxFileBytes: number
  readonly force: boolean
}

/** What a restore would do to each file that was changed since. */
export async function planRestore(
  ctx: RestoreContext,
  session: Session,
  to: RewindPoint,
  maxFileBytes: number,
): Promise<readonly FilePlan[]> {
  const plans = await planRewind(ctx, session, await readHistory(session, to), maxFileBytes)
  return plans.map(toldOf)
}

/** What stands in the way of each changed file, in the order in which they were first changed. */
async function planRewind(
  ctx: RestoreContext,
  session: Session,
  history: History,
  maxFileBytes: number,
): Promise<Planned[]> {
  const plans: Planned[] = []
  for (const changed of history.changed) {
    plans.push(await planFile(ctx, session, changed, maxFileBytes))
  }
  return plans
}

export async function restoreFiles(
  ctx: RestoreContext,
  session: Session,
  to: RewindPoint,
  { maxFileBytes, force }: RestoreOptions,
): Promise<readonly FilePlan[]> {
  const history = await readHistory(session, to)
  const plans = await planRewind(ctx, session, history, maxFileBytes)
  const conflicts = plans.filter(({ state }) => state === 'conflict').map(({ path }) => path)
  if (conflicts.length > 0 && !force) {
    throw checkpointError('CHECKPOINT_CONFLICT', { files: conflicts })
  }
  const chosen = plans.filter(({ state }) => state === 'ready' || state === 'conflict')
  const { unfinished } = history
  if (chosen.length === 0 && !unfinished) return plans.map(toldOf)
  const since = unfinished?.seq ?? session.nextSeq
  const turn = to === 'undo' ? {} : { turn: to.turn }
  const files = chosen.map(({ path }) => path)
  const kept = await keepPresent(session, chosen, history.lastTurn)
  await session.append([checkpointRestoring({ ...turn, files }), ...kept])
  const done = new Map<string, FilePlan>()
  for (const plan of chosen) done.set(plan.path, await putBack(ctx, session, plan))
  const results = plans.map((plan) => done.get(plan.path) ?? toldOf(plan))
  const named = new Set([...(unfinished?.data.files ?? []), ...files])
  const restored = results
    .filter(({ path, state }) => named.has(path) && (state === 'ready' || state === 'same'))
    .map(({ path, action }) => {
      return { path, action: action === 'write' ? ('written' as const) : ('removed' as const) }
    })
  await session.append([
    checkpointRestored({ ...turn, since, files: restored }),
    ...tell(to, restored),
  ])
  return results
}

/** What the files hold now, kept and logged, so that this can be undone. */
async function keepPresent(
  session: Session,
  plans: readonly Planned[],
  turn: number,
): Promise<NewFact[]> {
  const facts: NewFact[] = []
  for (const { path, present, wanted } of plans) {
    if (present.bytes) await session.putBlob(present.bytes)
    const after = contentOf(wanted)
    facts.push(
      checkpointFile({
        turn,
        path,
        by: 'rewind',
        before: present.before,
        ...(after === undefined ? {} : { after }),
      }),
    )
  }
  return facts
}

/** Writes or removes one file, if it still is what was planned on. */
async function putBack(ctx: RestoreContext, session: Session, plan: Planned): Promise<FilePlan> {
  const { path, action } = plan
  const failed = (state: FilePlan['state'], reason: string) => ({ path, action, state, reason })
  const allow = (directory: string) => {
    const reason = mayWrite(ctx, session, directory)
    if (reason !== undefined) throw checkpointError('CHECKPOINT_DENIED', { path, reason })
  }
  try {
    const target = await openExactly(ctx.fs, path, action === 'write' ? allow : undefined)
    if (typeof target === 'string') return failed('refused', target)
    await using open = target
    const expect = plan.present.version ?? 'absent'
    if (plan.wanted === null) {
      if ((await open.stat())?.version !== plan.present.version) {
        return failed('conflict', 'it was changed meanwhile')
      }
      await open.remove()
    } else await write(session, open, plan.wanted, expect)
    return { path, action, state: 'ready' }
  } catch (error) {
    if (!isHarnessError(error)) throw error
    const state = ['FILE_STALE', 'FILE_EXISTS'].includes(error.code) ? 'conflict' : 'refused'
    return failed(state, error.message)
  }
}

async function write(
  session: Session,
  target: Awaited<ReturnType<RestoreContext['fs']['target']>>,
  wanted: Exclude<Before, null>,
  expect: string,
): Promise<void> {
  const bytes = await session.getBlob(contentOf(wanted) ?? '')
  const { mode } = wanted
  // A file that was not there gets the mode that the umask leaves, and is then written once more.
  const first = expect === 'absent' ? mode | 0o200 : mode
  const version = await target.write(bytes, { expect, mode: first })
  if ((await target.stat())?.mode !== mode) await target.write(bytes, { expect: version, mode })
}

function toldOf({ path, action, state, reason }: Planned): FilePlan {
  return { path, action, state, ...(reason === undefined ? {} : { reason }) }
}

/** The model has seen these files as they no longer are. */
function tell(
  to: RewindPoint,
  files: readonly { path: string; action: 'written' | 'removed' }[],
): NewFact[] {
  if (files.length === 0) return []
  const when = to === 'undo' ? 'before the last rewind' : `before turn ${to.turn}`
  const lines = files.map(({ path, action }) => `- ${escapeFileName(path)} (${action})`)
  const text =
    `The user put these files back to what they were ${when}. ` +
    `What you saw of them since no longer holds:\n${lines.join('\n')}`
  const source = { kind: 'plugin', row: 'policy-checkpoint', form: 'notice' } as const
  const message = textMessage(newId(), 'user', text, source)
  return [contextMessage({ id: 'checkpoint', row: 'policy-checkpoint', message })]
}
