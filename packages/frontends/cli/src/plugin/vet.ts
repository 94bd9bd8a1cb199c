import { existsSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { API_VERSION, fitsApi, type Composition, type Row } from '@cordage/core/compose'
import type { Manifest } from '../boot/manifest.ts'
import { resolveFrom } from '../boot/resolve.ts'
import { pluginError } from './errors.ts'
import type { InstalledPlugin } from './installed.ts'

/** What a plugin says of itself and what its layer does: nothing of it was loaded to know this. */
export interface PluginFacts {
  readonly name: string
  readonly version: string
  readonly api: string
  /** What its author says that it uses. */
  readonly uses: readonly string[]
  /** Rows that it brings. */
  readonly rows: readonly string[]
  /** Rows of others that its layer changes. */
  readonly changes: readonly string[]
  /** Rows of others that are gone with it. */
  readonly removes: readonly string[]
  /** Scripts that npm would have run. */
  readonly scripts: readonly string[]
}

const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

/** Checks the package alone. Throws `PLUGIN_REFUSED` with the reason. */
export function vetPackage({ name, folder, linked, manifest }: InstalledPlugin): void {
  const refuse = (reason: string) => pluginError('PLUGIN_REFUSED', { plugin: name, reason })
  if (manifest === undefined) throw refuse(`there is no package.json in ${folder}.`)
  const { faults = [], cordage: { api, bundle } = {} } = manifest
  if (faults.length > 0) throw refuse(`in its package.json ${faults.join(', and ')}.`)
  if (manifest.name === undefined || manifest.version === undefined) {
    throw refuse('its package.json has no name or no version.')
  }
  if (bundle === undefined) {
    throw refuse('it is no plugin: its package.json names no bundle under "cordage".')
  }
  const file = join(folder, bundle)
  if (!isInside(file, folder)) throw refuse(`its bundle ${bundle} is not in the package.`)
  if (!statSync(file).isFile()) throw refuse(`its bundle ${bundle} is no file.`)
  if (api === undefined) {
    throw refuse('its package.json has no api range under "cordage", so nobody knows what it fits.')
  }
  if (!fitsApi(api)) {
    throw refuse(`it is made for api ${api}, and this Cordage has api ${API_VERSION}.`)
  }
  if (linked && folder.split(sep).includes('node_modules')) {
    throw refuse('a plugin is not used from inside of node_modules; give its name instead.')
  }
}

/**
 * What the layer at `file` does: `without` is the composition as it would be without it. Throws
 * `PLUGIN_REFUSED`, as `vetPackage` does.
 */
export function vetLayer(
  plugin: InstalledPlugin,
  file: string,
  { composition, without }: { composition: Composition; without: Composition },
): PluginFacts {
  // The package is in a copy that is gone when a person reads this.
  const inside = `${realpathSync(plugin.folder)}${sep}`
  const refuse = (reason: string) => {
    return pluginError('PLUGIN_REFUSED', {
      plugin: plugin.name,
      reason: reason.replaceAll(inside, ''),
    })
  }
  const all = rowsOf(composition)
  const own = all.filter((row) => row.from === file)
  const broken = own.flatMap((row) => row.blocked.filter(({ code }) => code !== 'ENV_UNSET'))
  if (broken.length > 0) throw refuse(broken.map(({ message }) => message).join(' '))
  for (const row of own) {
    const reason = whyNotRun(row, plugin.folder)
    if (reason !== undefined) throw refuse(`its row "${row.id}": ${reason}.`)
  }
  const changed = all.filter((row) => row.from !== file && isChangedBy(row, file))
  return {
    ...declared(plugin.manifest),
    name: plugin.name,
    rows: own.map(({ id }) => id),
    changes: [...new Set(changed.map(({ id }) => id))],
    removes: missing(rowsOf(without), all),
  }
}

function rowsOf({ rows, presets }: Composition): Row[] {
  return [...new Set([...rows, ...[...presets.values()].flatMap((preset) => preset.rows)])]
}

function missing(before: readonly Row[], after: readonly Row[]): string[] {
  const left = new Set(after.map(({ id }) => id))
  return [...new Set(before.map(({ id }) => id).filter((id) => !left.has(id)))]
}

function declared(manifest: Manifest | undefined) {
  const { version = '', scripts = {}, cordage = {} } = manifest ?? {}
  return {
    version,
    api: cordage.api ?? '',
    uses: cordage.uses ?? [],
    scripts: INSTALL_SCRIPTS.filter((name) => name in scripts),
  }
}

function isChangedBy({ origins }: Row, file: string): boolean {
  return [...origins.values()].some((origin) => origin.file === file)
}

function whyNotRun({ name, from }: Row, folder: string): string | undefined {
  try {
    const isPath = isAbsolute(name) || /^\.{1,2}([\\/]|$)/.test(name)
    const file = isAbsolute(name) ? name : fileURLToPath(resolveFrom(name, from))
    if (!existsSync(file)) return `there is no file ${file}; it may have to be built`
    if (isPath && !isInside(file, folder)) return `its file ${name} is not in the package`
    const packaged = file.split(sep).includes('node_modules')
    if (!packaged || !/\.[cm]?tsx?$/.test(file)) return undefined
    return `${file} is TypeScript, which does not run below node_modules: it has to ship JavaScript`
  } catch (error) {
    return `"${name}" is not found from ${from}: ${error instanceof Error ? error.message : error}`
  }
}

/** Whether it is there, and there behind all links. */
function isInside(file: string, folder: string): boolean {
  if (!existsSync(file)) return false
  const path = relative(realpathSync(folder), realpathSync(file))
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)
}
