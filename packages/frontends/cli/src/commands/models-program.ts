import type { Command } from 'commander'
import { parseDuration } from './arguments.ts'
import type { ModelsTestOptions } from './models-test.ts'
import type { ModelsUpdateOptions } from './models-update.ts'
import type { ListOptions } from './options.ts'

const load = {
  list: () => import('./models.ts'),
  test: () => import('./models-test.ts'),
  update: () => import('./models-update.ts'),
}

interface Program {
  readonly program: Command
  /** Takes the exit code that the chosen command comes to. */
  readonly started: (exit: Promise<number>) => Promise<void>
  /** Adds `--output`. */
  readonly listing: (command: Command) => Command
}

/** The commands that show and try models, and bring what is known of them up to date. */
export function addModels({ program, started, listing }: Program): void {
  const models = program.command('models').description('which models there are')
  listing(models.command('list'))
    .description('the declared ones: roles, prices, and what they need')
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
  models
    .command('update')
    .description('what is known of models, from a catalogue of your choice')
    .argument('[file-or-url]')
    .option('--reset', 'go back to what ships', false)
    .action((from: string | undefined, _: object, command: Command) =>
      started(
        load
          .update()
          .then(({ updateModels }) => updateModels(from, all<ModelsUpdateOptions>(command))),
      ),
    )
}

function all<T>(command: Command): T {
  return command.optsWithGlobals() as T
}
