import { existsSync } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Loaded, Loader } from '@cordage/core/compose'
import { bootError } from './errors.ts'
import { manifestOf } from './manifest.ts'
import { installedFolders } from './profile.ts'
import { resolveFrom } from './resolve.ts'

/**
 * Imports the plugins of rows. A package is looked for from the file that inserted the row, then
 * from the profile's folder in the home, then from the installation.
 */
export function createLoader(homeProfile: string): Loader {
  return {
    async load(name, from): Promise<Loaded> {
      const url = isAbsolute(name) ? pathToFileURL(name).href : resolveRow(name, from, homeProfile)
      const file = fileURLToPath(url)
      assertRuns(file)
      const module = (await import(url)) as Record<string, unknown>
      const manifest = manifestOf(file)
      return {
        plugin: module['default'] ?? module,
        api: manifest?.cordage?.api,
        version: manifest?.version,
        file,
      }
    },
  }
}

function resolveRow(name: string, from: string, homeProfile: string): string {
  try {
    return resolveFrom(name, from)
  } catch (error) {
    const isRelative = name.startsWith('./') || name.startsWith('../')
    for (const folder of isRelative ? [] : [homeProfile, ...installedFolders()]) {
      try {
        return resolveFrom(name, join(folder, 'package.json'))
      } catch {
        // The place where the row was written is the one to tell about.
      }
    }
    throw error
  }
}

function assertRuns(file: string): void {
  if (!existsSync(file)) throw bootError('PLUGIN_NOT_FOUND', { file })
  const packaged = file.includes(`${sep}node_modules${sep}`)
  if (packaged && /\.[cm]?tsx?$/.test(file)) throw bootError('PLUGIN_TYPESCRIPT', { file })
}
