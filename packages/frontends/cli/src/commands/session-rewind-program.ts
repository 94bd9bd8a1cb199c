import type { Command } from 'commander'
import { parseCount } from './arguments.ts'
import type { SessionRewindOptions } from './session-rewind.ts'

const load = () => import('./session-rewind.ts')

interface Program {
  readonly program: Command
  /** Takes the exit code that the chosen command comes to. */
  readonly started: (exit: Promise<number>) => Promise<void>
  /** Adds `--output`. */
  readonly listing: (command: Command) => Command
}

/** Adds `rewind` to the commands about sessions. */
export function addRewind({ program, started, listing }: Program): void {
  listing(program.command('rewind'))
    .description('go back to before a turn: files, conversation or both')
    .argument('<id>', 'the session, or the beginning of its id')
    .option('--to <turn>', 'to before this turn, counted from 1', parseCount)
    .option('--undo', 'put files back to before the last rewind', false)
    .option('--files', 'only put the files back that the session changed', false)
    .option('--conversation', 'only make a session that goes on from there', false)
    .option('--both', 'both, which is the default', false)
    .option('--force', 'put back what somebody else has changed since, too', false)
    .option('--dry-run', 'say what would be done, and do nothing', false)
    .action((id: string, _: object, command: Command) =>
      started(
        load().then(({ rewindSession }) =>
          rewindSession(id, command.optsWithGlobals<SessionRewindOptions>()),
        ),
      ),
    )
}
