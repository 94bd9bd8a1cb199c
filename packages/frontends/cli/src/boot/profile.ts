import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { didYouMean } from '@cordage/core/error'
import { bootError } from './errors.ts'
import { packageFolder } from './installation.ts'
import { findPackage, readManifest } from './manifest.ts'

const PREFIX = '@cordage/profile-'

interface LayerFile {
  readonly kind: 'bundle' | 'catalogue' | 'profile'
  readonly name: string
  readonly file: string
}

export interface Profile {
  readonly name: string
  readonly folder: string
  readonly preset: string | undefined
  /** The files of its layers: each bundle's in order, a catalogue of models first, then its own. */
  readonly files: readonly LayerFile[]
}

/** The profiles that come with the installation. */
export function profileNames(): string[] {
  const { dependencies = {} } = readManifest(packageFolder) ?? {}
  return Object.keys(dependencies)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length))
}

/** Finds a profile by name, or by the path of its folder. Throws `PROFILE_UNKNOWN` and others. */
export function findProfile(name: string, cwd: string): Profile {
  const isPath = isAbsolute(name) || /^\.{1,2}([\\/]|$)/.test(name)
  const folder = isPath ? resolve(cwd, name) : findPackage(PREFIX + name, packageFolder)
  if (folder === undefined || !existsSync(join(folder, 'package.json'))) {
    const names = profileNames()
    const hint = didYouMean(name, names) ?? `Known: ${names.join(', ')}, or the path of a folder.`
    throw bootError('PROFILE_UNKNOWN', { profile: name, hint })
  }
  return readProfile(isPath ? undefined : name, realpathSync(folder))
}

function readProfile(name: string | undefined, folder: string): Profile {
  const manifest = readManifest(folder)
  const { bundles, preset } = manifest?.cordage ?? {}
  if (!Array.isArray(bundles)) {
    const reason = 'its package.json does not list bundles under "cordage"'
    throw bootError('PROFILE_INVALID', { folder, reason })
  }
  const files = bundles.flatMap((bundle) => {
    const layer = bundleFile(bundle, folder)
    return [...catalogueOf(layer), layer]
  })
  return {
    name: name ?? manifest?.name?.replace(PREFIX, '') ?? folder,
    folder,
    preset,
    files: [
      ...files,
      { kind: 'profile', name: name ?? folder, file: join(folder, 'cordis.patch.yml') },
    ],
  }
}

interface BundleFile extends LayerFile {
  readonly kind: 'bundle'
  readonly folder: string
}

/** What a bundle ships of models. */
function catalogueOf({ name, folder }: BundleFile): LayerFile[] {
  const file = readManifest(folder)?.cordage?.catalogue
  if (file === undefined) return []
  return [{ kind: 'catalogue', name, file: realpathSync(join(folder, file)) }]
}

/** The layer of a bundle as `from` sees it, else as the installation does. */
function bundleFile(bundle: string, from: string): BundleFile {
  const folder = findPackage(bundle, from) ?? findInstalled(bundle)
  return layerOf(bundle, folder, join(from, 'package.json'))
}

/**
 * The folders whose packages belong to the installation: its own, its profiles' and their
 * bundles'. With a strict layout of node_modules each sees only what it names itself.
 */
export function installedFolders(): string[] {
  const profiles = profileNames().flatMap((name) => findPackage(PREFIX + name, packageFolder) ?? [])
  const bundles = profiles.flatMap((folder) => {
    const names = readManifest(folder)?.cordage?.bundles ?? []
    return names.flatMap((name) => findPackage(name, folder) ?? [])
  })
  return [...new Set([packageFolder, ...profiles, ...bundles])]
}

function findInstalled(name: string): string | undefined {
  for (const folder of installedFolders()) {
    const found = findPackage(name, folder)
    if (found !== undefined) return found
  }
  return undefined
}

/** A bundle by its name (`coding` is short for one of ours) or by the path of its folder. */
export function findBundle(bundle: string, cwd: string): BundleFile {
  const from = resolve(cwd, bundle)
  if (existsSync(join(from, 'package.json'))) return layerOf(bundle, from, from)
  return bundleFile(bundle.includes('/') ? bundle : `@cordage/bundle-${bundle}`, cwd)
}

function layerOf(name: string, folder: string | undefined, file: string): BundleFile {
  const layer = folder === undefined ? undefined : readManifest(folder)?.cordage?.bundle
  if (folder === undefined || layer === undefined) {
    throw bootError('BUNDLE_MISSING', { bundle: name, file })
  }
  return { kind: 'bundle', name, folder, file: realpathSync(join(folder, layer)) }
}
