import type { Command } from 'commander'
import { parseCount } from './arguments.ts'
import type { GlobalOptions, ListOptions } from './options.ts'
import type { ArchiveOptions } from './session-archive.ts'
import type { CollectCommandOptions } from './session-gc.ts'

const load = {
  rename: () => import('./session-rename.ts'),
  archive: () => import('./session-archive.ts'),
  pack: () => import('./session-pack.ts'),
  gc: () => import('./session-gc.ts'),
  delete: () => import('./session-delete.ts'),
}

interface Program {
  /** `cordage sessions`. */
  readonly program: Command
  readonly started: (exit: Promise<number>) => Promise<void>
  /** Adds `--output`. */
  readonly listing: (command: Command) => Command
}

/** The commands that keep sessions in order: what they are called, and what becomes of them. */
export function addUpkeep({ program: sessions, started, listing }: Program): void {
  sessions
    .command('rename')
    .description('give a session another title')
    .argument('<id>', 'the session, or the beginning of its id')
    .argument('<title...>')
    .action((id: string, words: string[], _: object, command: Command) =>
      started(
        load.rename().then(({ renameSession }) => renameSession(id, words.join(' '), all(command))),
      ),
    )
  sessions
    .command('archive')
    .description('put sessions away: lists leave them out')
    .argument('<id...>')
    .option('--undo', 'take them out again', false)
    .action((ids: string[], _: object, command: Command) =>
      started(
        load
          .archive()
          .then(({ archiveSessions }) => archiveSessions(ids, all<ArchiveOptions>(command))),
      ),
    )
  listing(sessions.command('pack'))
    .description('write logs anew, as small as they get')
    .argument('[id...]', 'these instead of all')
    .action((ids: string[], _: object, command: Command) =>
      started(load.pack().then(({ packSessions }) => packSessions(ids, all(command)))),
    )
  listing(sessions.command('gc'))
    .description('remove what no session needs, and old sessions where you say so')
    .option(
      '--max-age-days <count>',
      'remove sessions that nothing was added to for longer',
      parseCount,
    )
    .option('--max-total-mb <count>', 'remove the oldest until all take no more', parseCount)
    .option('--keep-archived', 'remove none that was put away', false)
    .option('--dry-run', 'say what would be removed, and remove nothing', false)
    .action((_: object, command: Command) =>
      started(
        load
          .gc()
          .then(({ collectSessions }) => collectSessions(all<CollectCommandOptions>(command))),
      ),
    )
  sessions
    .command('delete')
    .description('remove sessions for good')
    .argument('<id...>')
    .action((ids: string[], _: object, command: Command) =>
      started(load.delete().then(({ deleteSessions }) => deleteSessions(ids, all(command)))),
    )
}

function all<T extends GlobalOptions = ListOptions>(command: Command): T {
  return command.optsWithGlobals<T>()
}
