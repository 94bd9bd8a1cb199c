import { realpathSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import type { LayerSource } from '@cordage/core/compose'
import { readManifest, type Manifest } from '../boot/manifest.ts'
import { readText } from '../boot/read-text.ts'

/** A plugin that a person added to a profile. */
export interface InstalledPlugin {
  readonly name: string
  readonly folder: string
  /** Used where it is, by its path; else npm installed it. */
  readonly linked: boolean
  /** Undefined where the package is gone. */
  readonly manifest: Manifest | undefined
}

/** Where the plugins of a profile are: a package of its own, which npm keeps. */
export function pluginHome(home: string, profile: string): string {
  return join(home, 'profiles', profile)
}

/** In the order in which they were added, which is that of their layers. */
export function installedPlugins(pluginHome: string): InstalledPlugin[] {
  const entries = readManifest(pluginHome)?.cordage?.plugins ?? []
  return entries.map((entry) => {
    const linked = isAbsolute(entry)
    const folder = linked ? entry : join(pluginHome, 'node_modules', entry)
    const manifest = readPluginManifest(folder)
    const name = linked ? (manifest?.name ?? basename(entry)) : entry
    return { name, folder, linked, manifest }
  })
}

/** The layers of plugins; one that cannot be read says why, so that only its plugin is lost. */
export function pluginLayers(pluginHome: string): LayerSource[] {
  return installedPlugins(pluginHome).map(({ name, folder, manifest }) => {
    const missing = { kind: 'plugin', name, file: join(folder, 'package.json'), text: '' } as const
    if (manifest === undefined) {
      const unreadable = `the package is not in ${folder}; add it again, or remove it`
      return { ...missing, unreadable }
    }
    const { bundle } = manifest.cordage ?? {}
    if (bundle === undefined) {
      return { ...missing, unreadable: 'its package.json names no bundle under "cordage"' }
    }
    try {
      const file = realpathSync(join(folder, bundle))
      return { kind: 'plugin', name, file, text: readText(file) }
    } catch (error) {
      const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
      return { ...missing, unreadable: `its bundle ${join(folder, bundle)}: ${reason}` }
    }
  })
}

function readPluginManifest(folder: string): Manifest | undefined {
  try {
    return readManifest(folder)
  } catch {
    // No JSON: the package is as good as gone.
    return undefined
  }
}
