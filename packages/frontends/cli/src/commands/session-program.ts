import { Option, type Command } from 'commander'
import { parseCount } from './arguments.ts'
import type { GlobalOptions, ListOptions } from './options.ts'
import type { ForkCommandOptions } from './session-fork.ts'
import { addRewind } from './session-rewind-program.ts'
import type { ShowOptions } from './session-show.ts'
import { addTransfer } from './session-transfer-program.ts'
import { addUpkeep } from './session-upkeep-program.ts'
import type { SessionListOptions } from './sessions.ts'

const load = {
  sessions: () => import('./sessions.ts'),
  show: () => import('./session-show.ts'),
  fork: () => import('./session-fork.ts'),
  salvage: () => import('./session-salvage.ts'),
  queue: () => import('./session-queue.ts'),
  compact: () => import('./session-compact.ts'),
}

interface Program {
  readonly program: Command
  /** Takes the exit code that the chosen command comes to. */
  readonly started: (exit: Promise<number>) => Promise<void>
  /** Adds `--output`. */
  readonly listing: (command: Command) => Command
}

/** The commands about what was done before; each subject adds its own. */
export function addSessions({ program, started, listing }: Program): void {
  const sessions = program.command('sessions').description('what was done before')
  const given = { program: sessions, started, listing }
  addFinding(given)
  addBranching(given)
  addCompact(given)
  addQueue(given)
  addUpkeep(given)
  addTransfer(given)
  addRewind(given)
}

function addFinding({ program: sessions, started, listing }: Program): void {
  listing(sessions.command('list'))
    .description('the latest sessions')
    .addOption(limit(50))
    .option('--project <directory>', 'only those of this project')
    .option('--archived', 'with those that were put away')
    .option('--children', 'with those that agents started')
    .action((_: object, command: Command) =>
      started(
        load.sessions().then(({ listSessions }) => listSessions(all<SessionListOptions>(command))),
      ),
    )
  listing(sessions.command('show'))
    .description('a session as it went')
    .argument('<id>', 'the session, or the beginning of its id')
    .option('--request <step>', 'what that request contained: <step>, or <turn>.<step>')
    .option('--follow', 'go on with what is added, until Ctrl-C')
    .action((id: string, _: object, command: Command) =>
      started(load.show().then(({ showSession }) => showSession(id, all<ShowOptions>(command)))),
    )
  listing(sessions.command('search'))
    .description('where somebody said something')
    .argument('<text...>', 'words in any order, "a phrase", or begin*')
    .addOption(limit(20))
    .option('--project <directory>', 'only in sessions of this project')
    .option('--archived', 'in those that were put away, too')
    .option('--children', 'in those that agents started, too')
    .action((words: string[], _: object, command: Command) =>
      started(
        load
          .sessions()
          .then(({ findInSessions }) => findInSessions(words, all<SessionListOptions>(command))),
      ),
    )
}

function addBranching({ program: sessions, started, listing }: Program): void {
  listing(sessions.command('fork'))
    .description('a new session that begins with the history of this one')
    .argument('<id>', 'the session, or the beginning of its id')
    .option('--at <turn>', 'with what was before this turn, counted from 1', parseCount)
    .action((id: string, _: object, command: Command) =>
      started(
        load.fork().then(({ forkSession }) => forkSession(id, all<ForkCommandOptions>(command))),
      ),
    )
  listing(sessions.command('salvage'))
    .description('a new session with all that can be read of a damaged one')
    .argument('<id>', 'the session, or the beginning of its id')
    .action((id: string, _: object, command: Command) =>
      started(load.salvage().then(({ salvageSession }) => salvageSession(id, all(command)))),
    )
}

function addCompact({ program: sessions, started }: Program): void {
  sessions
    .command('compact')
    .description('replace the older part of a conversation by a summary')
    .argument('<id>', 'the session, or the beginning of its id')
    .action((id: string, _: object, command: Command) =>
      started(load.compact().then(({ compactSession }) => compactSession(id, all(command)))),
    )
}

function addQueue({ program: sessions, started, listing }: Program): void {
  listing(sessions.command('queue'))
    .description('what waits for the agent of a session, and changes of it; starts nothing')
    .argument('<id>', 'the session, or the beginning of its id')
    .argument(
      '[change...]',
      'list, edit <place> <words>, move <place> <place>, remove <place>..., release <place>...',
    )
    .action((id: string, words: string[], _: object, command: Command) =>
      started(load.queue().then(({ queueOf }) => queueOf(id, words.join(' '), all(command)))),
    )
}

function limit(count: number): Option {
  return new Option('--limit <count>', 'at most so many').argParser(parseCount).default(count)
}

function all<T extends GlobalOptions = ListOptions>(command: Command): T {
  return command.optsWithGlobals<T>()
}
