import { jsonText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { withHarness } from './with-harness.ts'

export interface ForkCommandOptions extends ListOptions {
  /** As it was when this turn began. */
  readonly at?: number
}

/** Begins a session with the history of another one, which goes on as it was. */
export async function forkSession(given: string, { at, ...options }: ForkCommandOptions) {
  return withHarness(options, async ({ ctx }) => {
    const sessions = ctx.get('sessions')
    if (!sessions) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
    const from = await completeId(ctx, given)
    const session = await sessions.fork(from, at === undefined ? {} : { turn: at })
    const { id, turn, header } = session
    await session.close()
    const turns = turn.turn
    if (options.output === 'json') process.stdout.write(jsonText({ id, from, turns, header }))
    else process.stdout.write(`${id}\n`)
    process.stderr.write(
      `${id} begins with ${turns} ${turns === 1 ? 'turn' : 'turns'} of ${from}.` +
        ` Go on: cordage resume ${id} "what to do"\n`,
    )
    return 0
  })
}
