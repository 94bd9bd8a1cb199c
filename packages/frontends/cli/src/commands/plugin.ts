import { compose, problemText } from '@cordage/core/compose'
import { composeRequestOf } from '../boot/boot.ts'
import { composeProfile, type ComposeRequest } from '../boot/layers.ts'
import { readManifest } from '../boot/manifest.ts'
import { findProfile } from '../boot/profile.ts'
import { changeLines, factsText } from '../plugin/facts-text.ts'
import { findPlugin, install, uninstall } from '../plugin/install.ts'
import {
  installedPlugins,
  pluginHome,
  pluginLayers,
  type InstalledPlugin,
} from '../plugin/installed.ts'
import { changePlugins, recoverPlugins } from '../plugin/staging.ts'
import { vetLayer, vetPackage, type PluginFacts } from '../plugin/vet.ts'
import { harmless, jsonText } from '../print/table.ts'
import { bootOptionsOf, type GlobalOptions, type ListOptions } from './options.ts'

export interface PluginChangeOptions extends ListOptions {
  /** Says what would change, and changes nothing. */
  readonly dryRun: boolean
}

/** A profile whose plugins are looked at or changed. */
export interface PluginPlace {
  readonly request: ComposeRequest
  readonly profile: string
  readonly cwd: string
  readonly folder: string
}

export function pluginPlaceOf(options: GlobalOptions): PluginPlace {
  const request = composeRequestOf(bootOptionsOf(options))
  const { name: profile } = findProfile(request.profile, request.cwd)
  const folder = pluginHome(request.home, profile)
  recoverPlugins(folder)
  return { request, profile, cwd: request.cwd, folder }
}

/** Installs plugins for a profile, all or none; each is checked before anything of it loads. */
export async function addPlugins(
  specs: readonly string[],
  options: PluginChangeOptions,
): Promise<number> {
  const place = pluginPlaceOf(options)
  const added = await changePlugins(place.folder, async (copy) => {
    const value: Added[] = []
    for (const spec of specs) value.push(await addOne(copy, spec, place))
    return { keep: !options.dryRun, value }
  })
  if (options.output === 'json') process.stdout.write(jsonText(added.map(({ after }) => after)))
  else process.stdout.write(harmless(added.map((one) => addedText(one, place, options)).join('')))
  return 0
}

/** Brings plugins from a registry to their latest version and says what that changes. */
export async function updatePlugins(
  names: readonly string[],
  options: PluginChangeOptions,
): Promise<number> {
  const place = pluginPlaceOf(options)
  const all = installedPlugins(place.folder)
  const chosen =
    names.length === 0 ? all : names.map((name) => findPlugin(place.folder, name, place))
  const specs = chosen.flatMap((plugin) => {
    const why = whyNotUpdated(plugin, place)
    if (why === undefined) return [`${plugin.name}@latest`]
    process.stderr.write(`${plugin.name}: ${why}\n`)
    return []
  })
  if (all.length === 0) process.stderr.write(`The profile ${place.profile} has no plugins.\n`)
  return specs.length === 0 ? 0 : addPlugins(specs, options)
}

/** Takes plugins out of a profile; nothing of them stays. */
export async function removePlugins(
  names: readonly string[],
  options: GlobalOptions,
): Promise<number> {
  const place = pluginPlaceOf(options)
  // Before a copy is made, so that a wrong name costs nothing.
  for (const name of names) findPlugin(place.folder, name, place)
  const removed = await changePlugins(place.folder, async (copy) => {
    const value: InstalledPlugin[] = []
    for (const name of names) value.push(await uninstall(copy, name, place))
    return { keep: true, value }
  })
  for (const { name } of removed) process.stdout.write(harmless(`${name} is removed.\n`))
  // What a layer of a person says of a row that is gone would stop the next start.
  const { composition } = composeProfile(place.request)
  for (const problem of composition.problems)
    process.stderr.write(harmless(`${problemText(problem)}\n`))
  return 0
}

interface Added {
  readonly before: PluginFacts | undefined
  readonly after: PluginFacts
}

async function addOne(copy: string, spec: string, place: PluginPlace): Promise<Added> {
  const known = new Map(
    installedPlugins(place.folder).map((plugin) => [plugin.name, plugin] as const),
  )
  const plugin = await install(copy, spec, place)
  vetPackage(plugin)
  const was = known.get(plugin.name)
  const before = was && factsOf(was, place.folder, place)
  return { before, after: factsOf(plugin, copy, place) }
}

function factsOf(plugin: InstalledPlugin, home: string, { request }: PluginPlace): PluginFacts {
  const layer = pluginLayers(home)[installedPlugins(home).findIndex(isSame(plugin))]
  const file = layer?.file ?? ''
  const { composition, layers, profile } = composeProfile({ ...request, pluginHome: home })
  const others = layers.filter((other) => other.file !== file)
  const without = compose(others, { profile: profile.name, env: request.env })
  return vetLayer(plugin, file, { composition, without })
}

function isSame({ name }: InstalledPlugin) {
  return (other: InstalledPlugin) => other.name === name
}

function addedText({ before, after }: Added, place: PluginPlace, { dryRun }: PluginChangeOptions) {
  const verb = dryRun ? 'would be' : 'is'
  const changes = before === undefined ? [] : changeLines(before, after)
  if (before !== undefined && changes.length === 0) {
    return `${after.name} ${after.version} ${verb} as it was.\n`
  }
  const what =
    before === undefined
      ? `It ${verb} in the profile ${place.profile}. Its code runs with all your rights.\n`
      : changes.map((line) => `  ${line}\n`).join('')
  return `${factsText(after)}${what}`
}

function whyNotUpdated({ linked, folder, name }: InstalledPlugin, place: PluginPlace) {
  if (linked) return `it is used where it is, in ${folder}; there is nothing to update.`
  const range = rangeOf(name, place.folder)
  if (!range.startsWith('file:')) return undefined
  return 'it came from a tarball; add the new one: cordage plugin add <tarball>'
}

function rangeOf(name: string, home: string): string {
  return readManifest(home)?.dependencies?.[name] ?? ''
}
