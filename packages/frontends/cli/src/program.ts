import { Command, Option } from 'commander'
import { collect, parseCost, parseCount, parseDuration } from './commands/arguments.ts'
import type { GlobalOptions, RunOptions } from './commands/options.ts'

/** The commands; each loads its code when it is chosen, and reports its exit code to `done`. */
export function createProgram(version: string, done: (exit: number) => void): Command {
  const program = new Command('cordage')
  program
    .description('An agent in your terminal. Give it a task: cordage "fix the failing test"')
    .version(version, '-V, --version')
    .option('--profile <name>', 'which composition to start', 'headless')
    .option('--patch <file>', 'a further layer on top; may be repeated', collect, [])
    .option('--safe', 'leave out your own layers and overlays', false)
    .option('--debug', 'show the log and stack traces', false)
    .showSuggestionAfterError()
    .exitOverride()
  const started = (exit: Promise<number>) => exit.then(done)
  addRunning(program, started)
  return program
}

type Started = (exit: Promise<number>) => Promise<void>

function addRunning(program: Command, started: Started): void {
  const load = () => import('./commands/run.ts')
  runOptions(program.command('run', { isDefault: true }))
    .description('do a task in a new session (what `cordage "task"` does)')
    .argument('[task...]', 'what to do; "-" for what is piped in')
    .action((words: string[], _: object, command: Command) =>
      started(load().then(({ run }) => run({ kind: 'new' }, words, all(command)))),
    )
  runOptions(program.command('resume'))
    .description('go on with a session')
    .argument('<id>', 'the session, or the beginning of its id')
    .argument('[task...]', 'what to do next; without it, what was interrupted')
    .action((id: string, words: string[], _: object, command: Command) =>
      started(load().then(({ run }) => run({ kind: 'resume', id }, words, all(command)))),
    )
  runOptions(program.command('continue'))
    .description('go on with the latest session of this directory')
    .argument('[task...]', 'what to do next; without it, what was interrupted')
    .action((words: string[], _: object, command: Command) =>
      started(load().then(({ run }) => run({ kind: 'continue' }, words, all(command)))),
    )
}

function all<T extends GlobalOptions = RunOptions>(command: Command): T {
  return command.optsWithGlobals<T>()
}

function runOptions(command: Command): Command {
  return command
    .option('--cwd <directory>', 'work there instead of here')
    .option('--model <provider/id>', 'such as deepseek/deepseek-v4-flash or scripted/fix-a-bug')
    .option('--effort <level>', 'how hard the model thinks')
    .addOption(
      new Option('--permission <mode>', 'what it may do').choices([
        'read-only',
        'workspace-write',
        'full-access',
      ]),
    )
    .addOption(
      new Option('--output <format>', 'what goes to stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--max-steps <count>', 'stop after so many requests', parseCount)
    .option('--max-tokens <count>', 'stop after so many tokens', parseCount)
    .option('--max-cost <dollars>', 'stop after so much money', parseCost)
    .option('--timeout <duration>', 'stop after so long, such as 90s or 5m', parseDuration)
    .option('--quiet', 'no progress on stderr', false)
    .option('--take-over', 'take a session from a process that has stopped answering', false)
}
