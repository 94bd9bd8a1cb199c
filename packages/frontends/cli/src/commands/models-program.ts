import type { Command } from 'commander'
import { parseDuration } from './arguments.ts'
import type { ModelsTestOptions } from './models-test.ts'
import type { ListOptions } from './options.ts'

const load = {
  list: () => import('./models.ts'),
  test: () => import('./models-test.ts'),
}

interface Program {
  readonly program: Command
  /** Takes the exit code that the chosen command comes to. */
  readonly started: (exit: Promise<number>) => Promise<void>
  /** Adds `--output`. */
  readonly listing: (command: Command) => Command
}

/** The commands that show and try models. */
export function addModels({ program, started, listing }: Program): void {
  const models = program.command('models').description('which models there are')
  listing(models.command('list'))
    .description('the declared ones, and what they need')
    .action((_: object, command: Command) =>
      started(load.list().then(({ listModels }) => listModels(all<ListOptions>(command)))),
    )
  listing(models.command('test'))
    .description('try what a run needs of a route, piece by piece')
    .argument('[provider]', 'or provider/id; default: the model that a run would use')
    .argument('[id]', 'default: the first model that the route declares')
    .option('--only <probes...>', 'some of: list text stream tools reasoning images')
    .option('--timeout <duration>', 'of each probe', parseDuration)
    .action((route: string | undefined, id: string | undefined, _: object, command: Command) =>
      started(
        load.test().then(({ testModel }) => testModel(route, id, all<ModelsTestOptions>(command))),
      ),
    )
}

function all<T>(command: Command): T {
  return command.optsWithGlobals() as T
}
