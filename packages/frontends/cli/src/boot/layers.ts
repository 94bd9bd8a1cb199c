import { lstatSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { compose, type Composition, type LayerKind, type LayerSource } from '@cordage/core/compose'
import { bootError } from './errors.ts'
import { installationRoot } from './installation.ts'
import { readLastGood } from './last-good.ts'
import { pluginHome, pluginLayers } from '../plugin/installed.ts'
import { recoverPlugins } from '../plugin/staging.ts'
import { findBundle, findProfile, profileNames, type Profile } from './profile.ts'
import { NO_FILE, readText } from './read-text.ts'
import { noteRows } from './underway.ts'

export const LAYER_FILE = 'cordis.patch.yml'
/** In the home: what `models update` brought. */
export const CATALOGUE_FILE = 'models.yml'

export interface ComposeRequest {
  readonly profile: string
  /** Overlays, relative to `cwd`. */
  readonly patches: readonly string[]
  readonly home: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Leaves out what people wrote: the installation's and home's layers and the overlays. */
  readonly safe: boolean
  /** Takes the layers of the last boot that succeeded instead of reading any. */
  readonly lastGood: boolean
  /** Where plugins are taken from. Default: the profile's folder in the home. */
  readonly pluginHome?: string
  /** Stands for what the home's layer says. */
  readonly homeText?: string
}

/** A profile as its layers compose. */
export interface ComposedProfile {
  readonly profile: Profile
  readonly layers: readonly LayerSource[]
  readonly composition: Composition
}

/**
 * Reads the layers of a profile and composes them; what is wrong in them is in `problems`.
 * `bundles` are added to those that the profile lists.
 */
export function composeProfile(
  request: ComposeRequest,
  bundles: readonly LayerSource[] = [],
): ComposedProfile {
  const profile = findProfile(request.profile, request.cwd)
  const layers = request.lastGood
    ? readLastGood(request.home, profile.name).layers
    : readLayers(profile, request, bundles)
  const composition = compose(layers, {
    profile: profile.name,
    preset: profile.preset,
    env: request.env,
    knownRows: layers.some(isPeoples) ? knownElsewhere(profile.name, request) : [],
  })
  noteRows(composition)
  return { profile, layers, composition }
}

function readLayers(
  profile: Profile,
  request: ComposeRequest,
  bundles: readonly LayerSource[],
): LayerSource[] {
  const listed = profile.files.map(({ kind, name, file }) => required(kind, name, file))
  const added = bundles.filter(({ file }) => listed.every((layer) => layer.file !== file))
  const people = request.safe ? [] : readPeople(request)
  const own = pluginHome(request.home, profile.name)
  const from = request.pluginHome ?? own
  if (!request.safe && from === own) recoverPlugins(own)
  const plugins = request.safe ? [] : pluginLayers(from)
  return [...listed.slice(0, -1), ...added, ...plugins, ...listed.slice(-1), ...people]
}

/** Whether people say anything there: a layer of comments, as one is shipped, names no row. */
function isPeoples({ kind, text }: LayerSource): boolean {
  if (kind !== 'installation' && kind !== 'home') return false
  return !['', '[]'].includes(text.replaceAll(/^\s*#.*$/gm, '').trim())
}

/** The layer of a bundle, given by its name (`coding` is short for ours) or its folder. */
export function readBundle(bundle: string, cwd: string): LayerSource {
  const { kind, name, file } = findBundle(bundle, cwd)
  return required(kind, name, file)
}

function readPeople({ home, homeText, patches, cwd }: ComposeRequest): LayerSource[] {
  const own = optional('home', join(home, LAYER_FILE))
  const standing = [
    optional('catalogue', join(home, CATALOGUE_FILE)),
    optional('installation', join(installationRoot(), LAYER_FILE)),
    own && homeText !== undefined ? { ...own, text: homeText } : own,
  ].filter((layer) => layer !== undefined)
  const overlays = patches.map((path) => required('overlay', path, resolve(cwd, path)))
  return [...standing, ...overlays]
}

function required(kind: LayerKind, name: string, path: string): LayerSource {
  try {
    return readLayer(kind, name, path)
  } catch (error) {
    throw bootError('LAYER_UNREADABLE', { file: path, reason: reasonOf(error) }, { cause: error })
  }
}

function optional(kind: LayerKind, path: string): LayerSource | undefined {
  try {
    return readLayer(kind, kind, path)
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT'
    if (isMissing && lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
    // Whoever put a link there meant a layer.
    const reason = isMissing ? 'it is a link to nothing' : reasonOf(error)
    throw bootError('LAYER_UNREADABLE', { file: path, reason }, { cause: error })
  }
}

function readLayer(kind: LayerKind, name: string, path: string): LayerSource {
  const file = realpathSync(path)
  return { kind, name, file, text: readText(file) }
}

/** Rows and presets of the other profiles: a person's layer may name them without a mistake. */
function knownElsewhere(profile: string, { home, cwd }: ComposeRequest): string[] {
  return profileNames()
    .filter((name) => name !== profile)
    .flatMap((name) => {
      const { files } = findProfile(name, cwd)
      const own = files.map((layer) => required(layer.kind, layer.name, layer.file))
      const layers = [...own, ...pluginLayers(pluginHome(home, name))]
      const { rows, presets } = compose(layers, { profile: name, env: {} })
      const inPresets = [...presets.values()].flatMap((preset) => preset.rows)
      return [...presets.keys(), ...[...rows, ...inPresets].map((row) => row.id)]
    })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return 'it does not exist'
  if (code === 'EACCES') return 'it may not be read'
  if (code === 'EISDIR') return 'it is a directory'
  if (code === 'ELOOP') return 'it is a link that leads to itself'
  if (code === NO_FILE) return 'it is no file'
  return code || String(error)
}
