import { Option, type Command } from 'commander'
import { parseSince } from './arguments.ts'
import type { GlobalOptions, ListOptions } from './options.ts'
import type { ExportOptions } from './session-export.ts'
import type { ImportOptions } from './session-import.ts'
import type { SessionUsageOptions } from './session-usage.ts'

const load = {
  export: () => import('./session-export.ts'),
  import: () => import('./session-import.ts'),
  usage: () => import('./session-usage.ts'),
}

interface Program {
  /** `cordage sessions`. */
  readonly program: Command
  readonly started: (exit: Promise<number>) => Promise<void>
  /** Adds `--output`. */
  readonly listing: (command: Command) => Command
}

/** The commands that take sessions out, bring them in, and count what they spent. */
export function addTransfer({ program: sessions, started, listing }: Program): void {
  sessions
    .command('export')
    .description('a session as a file: for a program, for people, or for a browser')
    .argument('<id>', 'the session, or the beginning of its id')
    .addOption(
      new Option('--format <format>', 'by the name of the file unless given, else jsonl').choices([
        'jsonl',
        'markdown',
        'html',
      ]),
    )
    .option('--out <file>', 'there instead of to stdout')
    .option('--force', 'replace a file that is there', false)
    .action((id: string, _: object, command: Command) =>
      started(
        load.export().then(({ exportSession }) => exportSession(id, all<ExportOptions>(command))),
      ),
    )
  listing(sessions.command('import'))
    .description('transcripts of other programs, or exports, as sessions')
    .argument('<path>', 'a file, or a folder to look through')
    .addOption(
      new Option('--from <format>', 'the program it is from, where that cannot be seen').choices([
        'claude-code',
        'codex',
        'opencode',
        'pi',
        'dsh',
        'cordage',
      ]),
    )
    .option('--project <directory>', 'the project that they are to belong to')
    .action((path: string, _: object, command: Command) =>
      started(
        load
          .import()
          .then(({ importSessions }) => importSessions(path, all<ImportOptions>(command))),
      ),
    )
  listing(sessions.command('usage'))
    .description('tokens, money and time: of sessions with their children, or of all')
    .argument('[id...]', 'sessions, or the beginnings of their ids')
    .option('--project <directory>', 'only sessions of this project')
    .option('--since <when>', 'only what was spent since: 7d, 12h, or 2026-11-30', parseSince)
    .addOption(
      new Option('--by <what>', 'all of it together, by one thing').choices([
        'model',
        'tool',
        'child',
        'purpose',
        'day',
      ]),
    )
    .action((ids: string[], _: object, command: Command) =>
      started(
        load.usage().then(({ showUsage }) => showUsage(ids, all<SessionUsageOptions>(command))),
      ),
    )
}

function all<T extends GlobalOptions = ListOptions>(command: Command): T {
  return command.optsWithGlobals<T>()
}
