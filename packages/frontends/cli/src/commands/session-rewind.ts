import type { FilePlan, RewindPoint } from '@cordage/policy-checkpoint'
import { jsonText, oneLine, tableText } from '../print/table.ts'
import { checkpointsOf, rewind, type Rewound, type RewindWhat } from '../rewind/rewind.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { withHarness } from './with-harness.ts'

export interface SessionRewindOptions extends ListOptions {
  readonly to?: number
  readonly undo: boolean
  readonly files: boolean
  readonly conversation: boolean
  readonly both: boolean
  readonly force: boolean
  readonly dryRun: boolean
}

/** Goes back to before a turn. Exits 1 where a file could not be put back. */
export async function rewindSession(given: string, options: SessionRewindOptions) {
  const to = pointOf(options)
  const what = whatOf(options)
  return withHarness(options, async ({ ctx }) => {
    const sessions = ctx.get('sessions')
    if (!sessions) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
    const checkpoints = checkpointsOf(ctx)
    if (!checkpoints && what !== 'conversation') throw noCheckpoints()
    const id = await completeId(ctx, given)
    const { force, dryRun } = options
    const done = await rewind({ sessions, checkpoints }, { id, to, what, force, dryRun })
    process.stdout.write(options.output === 'json' ? jsonText(done) : textOf(done, options))
    const stuck = done.files?.some(({ state }) => state === 'refused' || state === 'conflict')
    return stuck ? 1 : 0
  })
}

function noCheckpoints(): Error {
  const reason = 'This profile keeps no checkpoints: add the row policy-checkpoint.'
  return cliError('USAGE', { reason })
}

function pointOf({ to, undo }: SessionRewindOptions): RewindPoint {
  if (undo && to === undefined) return 'undo'
  if (!undo && to !== undefined) return { turn: to }
  throw cliError('USAGE', { reason: 'Say where to go back to: --to <turn>, or --undo.' })
}

function whatOf({ files, conversation, both, undo }: SessionRewindOptions): RewindWhat {
  const said = [files, conversation, both].filter(Boolean).length
  if (said > 1) {
    throw cliError('USAGE', { reason: 'Give one of --files, --conversation and --both.' })
  }
  if (!undo) return files ? 'files' : conversation ? 'conversation' : 'both'
  if (!conversation && !both) return 'files'
  const reason = '--undo is about files: the session before a rewind is there as it was.'
  throw cliError('USAGE', { reason })
}

const words: Record<FilePlan['state'], readonly [done: string, planned: string]> = {
  ready: ['put back', 'would be put back'],
  same: ['as it was', 'as it was'],
  conflict: ['conflict', 'conflict'],
  refused: ['not put back', 'cannot be put back'],
}

function textOf({ files, session }: Rewound, { dryRun }: SessionRewindOptions): string {
  const lines = (files ?? []).map(({ path, state, action, reason }) => {
    const word = words[state][dryRun ? 1 : 0]
    const how = state === 'ready' && action === 'remove' ? 'it was not there' : ''
    return [word, oneLine(path, 200), oneLine(reason ?? how, 200)]
  })
  const nothing = files?.length === 0 ? 'No file was changed since.\n' : ''
  const next = session === undefined ? '' : `Go on from there: cordage resume ${session} "…"\n`
  return tableText(lines) + nothing + next
}
