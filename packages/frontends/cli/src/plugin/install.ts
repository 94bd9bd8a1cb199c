import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { didYouMean } from '@cordage/core/error'
import { makeDirectory } from '../boot/make-directory.ts'
import type { Manifest } from '../boot/manifest.ts'
import { pluginError } from './errors.ts'
import { installedPlugins, type InstalledPlugin } from './installed.ts'
import { npm } from './npm.ts'

type HomeManifest = Manifest & { private: true; description: string }

/** Adds what `spec` names (a path, a tarball, or what npm takes) to the package in `copy`. */
export async function install(
  copy: string,
  spec: string,
  place: { cwd: string; profile: string },
): Promise<InstalledPlugin> {
  prepare(copy, place.profile)
  const kind = kindOf(spec, place.cwd)
  if (kind.type === 'folder') return list(copy, kind.path)
  const before = readHome(copy).dependencies ?? {}
  const from = kind.type === 'tarball' ? keepTarball(copy, kind.path) : spec
  await npm(copy, ['install', from], { offline: kind.type === 'tarball' })
  const named = Object.entries(readHome(copy).dependencies ?? {}).find(([name, range]) => {
    return range !== before[name] || isNamed(spec, name) || basename(range) === basename(from)
  })?.[0]
  if (named === undefined) {
    throw pluginError('PLUGIN_REFUSED', { plugin: spec, reason: 'npm installed nothing for it.' })
  }
  dropOldTarballs(copy)
  return list(copy, named)
}

/** Takes a plugin, by name or path, off the package in `copy`. Throws `PLUGIN_UNKNOWN`. */
export async function uninstall(
  copy: string,
  wanted: string,
  place: { cwd: string; profile: string },
): Promise<InstalledPlugin> {
  const plugin = findPlugin(copy, wanted, place)
  const manifest = readHome(copy)
  const kept = (manifest.cordage?.plugins ?? []).filter((entry) => !isEntryOf(entry, plugin))
  writeHome(copy, { ...manifest, cordage: { plugins: kept } })
  if (!plugin.linked) await npm(copy, ['uninstall', plugin.name], OFFLINE)
  dropOldTarballs(copy)
  const { dependencies = {} } = readHome(copy)
  if (Object.keys(dependencies).length === 0) {
    // npm leaves its own notes behind.
    rmSync(join(copy, 'node_modules'), { recursive: true, force: true })
    rmSync(join(copy, 'package-lock.json'), { force: true })
  }
  return plugin
}

/** Throws `PLUGIN_UNKNOWN` with the nearest name. */
export function findPlugin(
  folder: string,
  wanted: string,
  { cwd, profile }: { cwd: string; profile: string },
): InstalledPlugin {
  const all = installedPlugins(folder)
  const path = resolve(cwd, wanted)
  const found = all.find(({ name, linked, folder }) => {
    return name === wanted || (linked && folder === path)
  })
  if (found !== undefined) return found
  const names = all.map(({ name }) => name)
  const known = names.length === 0 ? 'It has none.' : `It has ${names.join(', ')}.`
  const hint = didYouMean(wanted, names) ?? known
  throw pluginError('PLUGIN_UNKNOWN', { profile, plugin: wanted, hint })
}

const OFFLINE = { offline: true }

type Kind =
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'tarball'; readonly path: string }
  | { readonly type: 'package' }

function kindOf(spec: string, cwd: string): Kind {
  if (spec.trim() === '' || spec.startsWith('-')) {
    const reason = 'give a name as npm takes it, a tarball or a folder.'
    throw pluginError('PLUGIN_REFUSED', { plugin: `"${spec}"`, reason })
  }
  const path = resolve(cwd, spec.replace(/^file:/, ''))
  const isFile = /\.(tgz|tar\.gz)$/.test(spec) && !/^https?:/.test(spec)
  if (isFile || isAbsolute(spec) || /^(\.{1,2}([\\/]|$)|file:)/.test(spec)) {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory()) return { type: 'folder', path: realpathSync(path) }
    if (stat?.isFile()) return { type: 'tarball', path }
    throw pluginError('PLUGIN_REFUSED', { plugin: spec, reason: `there is nothing at ${path}.` })
  }
  return { type: 'package' }
}

function list(copy: string, entry: string): InstalledPlugin {
  const manifest = readHome(copy)
  const plugins = [...new Set([...(manifest.cordage?.plugins ?? []), entry])]
  writeHome(copy, { ...manifest, cordage: { plugins } })
  const all = installedPlugins(copy)
  const plugin = all[plugins.indexOf(entry)]!
  const twin = all.find((other) => other !== plugin && other.name === plugin.name)
  if (twin === undefined) return plugin
  const reason = `it is there already, from ${twin.folder}; remove that first.`
  throw pluginError('PLUGIN_REFUSED', { plugin: plugin.name, reason })
}

function isEntryOf(entry: string, { name, folder, linked }: InstalledPlugin): boolean {
  return entry === (linked ? folder : name)
}

function isNamed(spec: string, name: string): boolean {
  return spec === name || spec.startsWith(`${name}@`)
}

/** A copy in the home, named by its content: the home needs no file that somebody may remove. */
function keepTarball(copy: string, path: string): string {
  const hash = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)
  const name = `${basename(path).replace(/\.(tgz|tar\.gz)$/, '')}-${hash}.tgz`
  makeDirectory(join(copy, 'tarballs'))
  copyFileSync(path, join(copy, 'tarballs', name))
  return `./tarballs/${name}`
}

function dropOldTarballs(copy: string): void {
  const folder = join(copy, 'tarballs')
  if (!existsSync(folder)) return
  const used = Object.values(readHome(copy).dependencies ?? {}).map((range) => basename(range))
  for (const name of readdirSync(folder)) if (!used.includes(name)) rmSync(join(folder, name))
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true })
}

function prepare(copy: string, profile: string): void {
  if (existsSync(join(copy, 'package.json'))) return
  const description = `Plugins of the profile ${profile}; changed by \`cordage plugin\``
  writeHome(copy, { private: true, description })
}

function readHome(copy: string): HomeManifest {
  return JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as HomeManifest
}

function writeHome(copy: string, manifest: HomeManifest): void {
  writeFileSync(join(copy, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}
