import type { Command } from 'commander'
import type { GlobalOptions, ListOptions } from './options.ts'

const load = {
  auth: () => import('./auth.ts'),
  test: () => import('./auth-test.ts'),
}

interface Program {
  readonly program: Command
  /** Takes the exit code that the chosen command comes to. */
  readonly started: (exit: Promise<number>) => Promise<void>
  /** Adds `--output`. */
  readonly listing: (command: Command) => Command
}

/** The commands that keep, show and try credentials. */
export function addAuth({ program, started, listing }: Program): void {
  const auth = program.command('auth').description('keys of models, kept for you alone')
  auth
    .command('set')
    .description('keep a key: typed unseen when asked, or piped in')
    // Further words are taken only to say why they are not.
    .argument('<provider-or-name...>', 'such as deepseek or DEEPSEEK_API_KEY')
    .action((words: string[], _: object, command: Command) =>
      started(load.auth().then(({ setCredential }) => setCredential(words, all(command)))),
    )
  listing(auth.command('list'))
    .description('which keys there are, where from, and how they end')
    .action((_: object, command: Command) =>
      started(load.auth().then(({ listCredentials }) => listCredentials(all(command)))),
    )
  auth
    .command('remove')
    .description('forget a key that was kept')
    .argument('<provider-or-name>')
    .action((target: string, _: object, command: Command) =>
      started(load.auth().then(({ removeCredential }) => removeCredential(target, all(command)))),
    )
  listing(auth.command('test'))
    .description('send one short request with a key')
    .argument('<provider-or-name>')
    .action((target: string, _: object, command: Command) =>
      started(load.test().then(({ testCredential }) => testCredential(target, all(command)))),
    )
}

function all<T extends GlobalOptions = ListOptions>(command: Command): T {
  return command.optsWithGlobals<T>()
}
