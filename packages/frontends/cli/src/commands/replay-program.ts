import { Option, type Command } from 'commander'
import type { ReplayCommandOptions } from './replay.ts'

const load = () => import('./replay.ts')

interface Program {
  readonly program: Command
  /** Takes the exit code that the chosen command comes to. */
  readonly started: (exit: Promise<number>) => Promise<void>
  /** Adds `--output`. */
  readonly listing: (command: Command) => Command
}

export function addReplay({ program, started, listing }: Program): void {
  listing(program.command('replay'))
    .description('take a session again in the present tree, and say what is not as it was')
    .argument('<id>', 'the session, or the beginning of its id')
    .option('--bisect', 'find the row that changes the outcome', false)
    .addOption(
      new Option('--permission <mode>', 'of a session that does not say what it had').choices([
        'read-only',
        'workspace-write',
        'full-access',
      ]),
    )
    .action((id: string, _: object, command: Command) =>
      started(
        load().then(({ replay }) => replay(id, command.optsWithGlobals<ReplayCommandOptions>())),
      ),
    )
}
