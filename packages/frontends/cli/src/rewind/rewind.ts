import { newId, textMessage } from '@cordage/core/message'
import type { RootContext } from '@cordage/core/kernel'
import { contextMessage, type Session, type Sessions } from '@cordage/core/session'
import { escapeFileName } from '@cordage/core/tool'
import type { Checkpoints, FilePlan, RewindPoint } from '@cordage/policy-checkpoint'

/** What a rewind is about: the files, a new session with what was said before, or both. */
export type RewindWhat = 'files' | 'conversation' | 'both'

export interface Rewind {
  readonly id: string
  readonly to: RewindPoint
  readonly what: RewindWhat
  readonly force: boolean
  readonly dryRun: boolean
}

export interface Rewound {
  /** What became of each changed file; undefined where files were not asked about. */
  readonly files?: readonly FilePlan[]
  /** The session that goes on from before the turn. */
  readonly session?: string
}

/** Does what is asked. The files come first: a run that is killed can simply be run again. */
export async function rewind(
  { sessions, checkpoints }: { sessions: Sessions; checkpoints: Checkpoints | undefined },
  asked: Rewind,
): Promise<Rewound> {
  const { id, to, what, force, dryRun } = asked
  const readOnly = dryRun || what === 'conversation'
  const session = await sessions.open(id, { mode: readOnly ? 'read' : 'write' })
  let files: readonly FilePlan[] | undefined
  try {
    if (!readOnly) await session.repair()
    files = readOnly
      ? await checkpoints?.plan(session, to)
      : await checkpoints?.restore(session, to, { force })
  } finally {
    await session.close()
  }
  const about = what === 'conversation' || !files ? {} : { files }
  if (what === 'files' || to === 'undo' || dryRun) return about
  const forked = await sessions.fork(id, { turn: to.turn })
  try {
    await tellWhatStays(
      forked,
      to.turn,
      (files ?? []).filter((file) => stays(file, what)),
    )
    return { ...about, session: forked.id }
  } finally {
    await forked.close()
  }
}

export function checkpointsOf(ctx: RootContext): Checkpoints | undefined {
  return ctx.get('checkpoints')
}

/** A file that is not now what it was then. */
function stays({ state }: FilePlan, what: RewindWhat): boolean {
  return what === 'conversation' ? state !== 'same' : !['same', 'ready'].includes(state)
}

/** The model of the new session does not know what happened after its history ends. */
async function tellWhatStays(session: Session, turn: number, files: readonly FilePlan[]) {
  if (files.length === 0) return
  const text =
    `The conversation was taken back to before turn ${turn}, but these files were not: they are ` +
    `as they became later.\n${files.map(({ path }) => `- ${escapeFileName(path)}`).join('\n')}`
  const source = { kind: 'plugin', row: 'policy-checkpoint', form: 'notice' } as const
  const message = textMessage(newId(), 'user', text, source)
  await session.append([contextMessage({ id: 'checkpoint', row: source.row, message })])
}
