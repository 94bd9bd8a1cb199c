import type { Command } from 'commander'
import type { GlobalOptions } from './options.ts'
import type { PluginChangeOptions } from './plugin.ts'
import type { CreateOptions } from './plugin-create.ts'

const load = {
  change: () => import('./plugin.ts'),
  list: () => import('./plugin-list.ts'),
  why: () => import('./plugin-why.ts'),
  create: () => import('./plugin-create.ts'),
  migrate: () => import('./config-migrate.ts'),
}

interface Program {
  readonly program: Command
  /** Takes the exit code that the chosen command comes to. */
  readonly started: (exit: Promise<number>) => Promise<void>
  /** Adds `--output`. */
  readonly listing: (command: Command) => Command
}

/** The commands about plugins of others, and about configs that they have outgrown. */
export function addPlugin({ program, started, listing }: Program): void {
  const plugin = program.command('plugin').description('plugins of others, for one profile each')
  const changing = (command: Command) =>
    listing(command).option('--dry-run', 'say what would change, and change nothing', false)
  changing(plugin.command('add'))
    .description('install plugins after checking them')
    .argument('<plugin...>', 'a name as npm takes it, a tarball, or a folder to use where it is')
    .action((specs: string[], _: object, command: Command) =>
      started(load.change().then(({ addPlugins }) => addPlugins(specs, all(command)))),
    )
  changing(plugin.command('update'))
    .description('take the latest versions, and say what they change')
    .argument('[plugin...]', 'default: all')
    .action((names: string[], _: object, command: Command) =>
      started(load.change().then(({ updatePlugins }) => updatePlugins(names, all(command)))),
    )
  plugin
    .command('remove')
    .description('take plugins out; nothing of them stays')
    .argument('<plugin...>')
    .action((names: string[], _: object, command: Command) =>
      started(load.change().then(({ removePlugins }) => removePlugins(names, all(command)))),
    )
  listing(plugin.command('list'))
    .description('which there are, how they are, and what they cost')
    .action((_: object, command: Command) =>
      started(load.list().then(({ listPlugins }) => listPlugins(all(command)))),
    )
  listing(plugin.command('why'))
    .description('who brought a row, and who needs it')
    .argument('<row>')
    .action((row: string, _: object, command: Command) =>
      started(load.why().then(({ explainPresence }) => explainPresence(row, all(command)))),
    )
  addCreate(plugin, started)
  addMigrate(program, started)
}

function addCreate(plugin: Command, started: Program['started']): void {
  plugin
    .command('create')
    .description('the beginning of a plugin of your own, with its test')
    .argument('<name>', 'of the package, such as @acme/weather')
    .option('--kind <kind>', 'tool, policy, model or context', 'tool')
    .option('--directory <directory>', 'where; default: a folder of its name, here')
    .action((name: string, _: object, command: Command) =>
      started(load.create().then(({ createPlugin }) => createPlugin(name, all(command)))),
    )
}

function addMigrate(program: Command, started: Program['started']): void {
  const config = program.commands.find((command) => command.name() === 'config')
  config
    ?.command('migrate')
    .description("bring the home's layer to the configs that plugins take today")
    .option('--dry-run', 'say what would change, and change nothing', false)
    .action((_: object, command: Command) =>
      started(load.migrate().then(({ migrateConfig }) => migrateConfig(all(command)))),
    )
}

function all<T extends GlobalOptions = PluginChangeOptions & CreateOptions>(command: Command): T {
  return command.optsWithGlobals<T>()
}
