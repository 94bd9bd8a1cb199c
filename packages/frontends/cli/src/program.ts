import { Command, Option } from 'commander'
import { addAuth } from './commands/auth-program.ts'
import { collect, parseCost, parseCount, parseDuration } from './commands/arguments.ts'
import { addModels } from './commands/models-program.ts'
import { addPlugin } from './commands/plugin-program.ts'
import { addReplay } from './commands/replay-program.ts'
import { addSessions } from './commands/session-program.ts'
import { isTypo } from './commands/typo.ts'
import type { DoctorOptions } from './commands/doctor.ts'
import type { GlobalOptions, ListOptions, RunOptions } from './commands/options.ts'
import type { ToolsOptions } from './commands/tools.ts'

const load = {
  run: () => import('./commands/run.ts'),
  config: () => import('./commands/config.ts'),
  configDiff: () => import('./commands/config-diff.ts'),
  schema: () => import('./commands/config-schema.ts'),
  tools: () => import('./commands/tools.ts'),
  doctor: () => import('./commands/doctor.ts'),
  completion: () => import('./commands/completion.ts'),
}

/** The commands; each loads its code when it is chosen, and reports its exit code to `done`. */
export function createProgram(version: string, done: (exit: number) => void): Command {
  const program = new Command('cordage')
  program
    .description('An agent in your terminal. Give it a task: cordage "fix the failing test"')
    .version(version, '-V, --version')
    .option('--profile <name>', 'which composition to start', 'headless')
    .option('--patch <file>', 'a further layer on top; may be repeated', collect, [])
    .option('--safe', 'leave out your own layers and overlays', false)
    .addOption(
      new Option('--last-good', 'take the layers of the last start that succeeded')
        .default(false)
        .conflicts(['patch', 'safe']),
    )
    .option('--debug', 'show the log and stack traces', false)
    .showSuggestionAfterError()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'cordage: ')) })
    .exitOverride()
  const started: Started = async (exit) => done(await exit)
  addRunning(program, started)
  addSessions({ program, started, listing })
  addReplay({ program, started, listing })
  addConfig(program, started)
  addLooking(program, started)
  addModels({ program, started, listing })
  addAuth({ program, started, listing })
  addPlugin({ program, started, listing })
  inheritExit(program)
  return program
}

/** Subcommands report and end as the program does; commander copies that only once. */
function inheritExit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command)
    inheritExit(child)
  }
}

type Started = (exit: Promise<number>) => Promise<void>

function addRunning(program: Command, started: Started): void {
  runOptions(program.command('run', { isDefault: true }))
    .description('do a task in a new session (what `cordage "task"` does)')
    .argument('[task...]', 'what to do; "-" for what is piped in')
    .action((words: string[], _: object, command: Command) => {
      const explicit = program.args[0] === 'run'
      if (!explicit) refuseMisspelt(words, program)
      return started(load.run().then(({ run }) => run({ kind: 'new' }, words, all(command))))
    })
  goOnOptions(program.command('resume'))
    .description('go on with a session')
    .argument('<id>', 'the session, or the beginning of its id')
    .argument('[task...]', 'what to do next; without it, what was interrupted')
    .action((id: string, words: string[], _: object, command: Command) =>
      started(load.run().then(({ run }) => run({ kind: 'resume', id }, words, all(command)))),
    )
  goOnOptions(program.command('continue'))
    .description('go on with the latest session of this directory')
    .argument('[task...]', 'what to do next; without it, what was interrupted')
    .action((words: string[], _: object, command: Command) =>
      started(load.run().then(({ run }) => run({ kind: 'continue' }, words, all(command)))),
    )
}

function addConfig(program: Command, started: Started): void {
  const config = program.command('config').description('what a profile is composed of')
  listing(config.command('dump'))
    .description('the composed tree')
    .action((_: object, command: Command) =>
      started(load.config().then(({ dumpConfig }) => dumpConfig(all<ListOptions>(command)))),
    )
  listing(config.command('explain'))
    .description('which layer and line set each value of a row')
    .argument('<row>')
    .action((row: string, _: object, command: Command) =>
      started(load.config().then(({ explainRow }) => explainRow(row, all<ListOptions>(command)))),
    )
  listing(config.command('diff'))
    .description('what overlays change, or without any, what your own layers change')
    .argument('[profile]', 'of this profile')
    .action((profile: string | undefined, _: object, command: Command) =>
      started(
        load.configDiff().then(({ diffConfig }) => diffConfig(profile, all<ListOptions>(command))),
      ),
    )
  config
    .command('schema')
    .description('a JSON schema of layers, for an editor')
    .action((_: object, command: Command) =>
      started(load.schema().then(({ printSchema }) => printSchema(all(command)))),
    )
  listing(config.command('check'))
    .description('import and check everything, start nothing')
    .option('--bundle <name>', 'with this bundle added')
    .action((_: object, command: Command) =>
      started(
        load
          .config()
          .then(({ checkConfig }) => checkConfig(all<ListOptions & { bundle?: string }>(command))),
      ),
    )
}

function addLooking(program: Command, started: Started): void {
  listing(program.command('tools'))
    .description('which tools an agent has, and why one is not there')
    .argument('[name]')
    .option('--preset <name>', 'of this preset')
    .option('--model <provider/id>', 'as this model would get them')
    .action((name: string | undefined, _: object, command: Command) =>
      started(load.tools().then(({ listTools }) => listTools(name, all<ToolsOptions>(command)))),
    )
  listing(program.command('doctor'))
    .description('what works on this machine, and what does not')
    .option('--offline', 'ask no server', false)
    .option('--rebuild', 'make the catalog and the index of sessions anew', false)
    .action((_: object, command: Command) =>
      started(load.doctor().then(({ doctor }) => doctor(all<DoctorOptions>(command)))),
    )
  program
    .command('completion')
    .description('a script for your shell: source <(cordage completion bash)')
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell: string) =>
      started(
        load.completion().then(({ completionScript }) => {
          process.stdout.write(completionScript(shell))
          return 0
        }),
      ),
    )
}

function listing(command: Command): Command {
  const formats = new Option('--output <format>', 'what goes to stdout').choices(['text', 'json'])
  return command.addOption(formats.default('text'))
}

/** A single word that is nearly a command is one: a model costs money, and nobody meant a task. */
function refuseMisspelt([first = '', ...rest]: readonly string[], program: Command): void {
  if (first.length < 4 || /\s/.test(first)) return
  const near = program.commands.map((command) => command.name()).find((name) => isTypo(first, name))
  if (near === undefined) return
  const line = [first, ...rest].join(' ')
  program.error(
    `error: there is no command '${first}'; did you mean ${near}? As a task: cordage run "${line}"`,
  )
}

function all<T extends GlobalOptions = RunOptions>(command: Command): T {
  return command.optsWithGlobals<T>()
}

function goOnOptions(command: Command): Command {
  const what = 'go on with what was cut short, told what is unknown of it'
  return runOptions(command).option('--interrupted', what)
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
