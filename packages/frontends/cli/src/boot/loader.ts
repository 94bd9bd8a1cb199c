import { existsSync } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Loaded, Loader } from '@cordage/core/compose'
import { bootError } from './errors.ts'
import { manifestOf } from './manifest.ts'
import { installedFolders } from './profile.ts'
import { resolveFrom } from './resolve.ts'
import { noteLoading } from './underway.ts'

/**
 * Imports the plugins of rows. A package is looked for from the file that inserted the row, then
 * from the profile's folder in the home, then from the installation.
 */
export function createLoader(homeProfile: string): Loader {
  const locate = (name: string, from: string) => {
    const url = isAbsolute(name) ? pathToFileURL(name).href : resolveRow(name, from, homeProfile)
    return { url, file: fileURLToPath(url) }
  }
  return {
    apiOf: (name, from) => manifestOf(locate(name, from).file)?.cordage?.api,
    async load(name, from): Promise<Loaded> {
      const { url, file } = locate(name, from)
      assertRuns(file)
      noteLoading(file, name, from)
      const module = await importFile(url, file)
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

/** Throws `PLUGIN_IMPORT_MISSING`: the plugin itself is there, so it is not what is missing. */
async function importFile(url: string, file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(url)) as Record<string, unknown>
  } catch (error) {
    const missing = missingImport(error, file)
    if (missing === undefined) throw error
    throw bootError('PLUGIN_IMPORT_MISSING', missing, { cause: error })
  }
}

/** Which import of which file failed: Node tells it in the words of its message only. */
function missingImport(error: unknown, plugin: string) {
  const isMissing =
    error instanceof Error && 'code' in error && String(error.code).includes('MODULE_NOT_FOUND')
  if (!isMissing) return undefined
  const { message } = error
  const name = /^Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1]
  const importer = /' imported from (.+)$/m.exec(message) ?? /^- (.+)$/m.exec(message)
  return { import: name ?? message, file: importer?.[1] ?? plugin }
}

function assertRuns(file: string): void {
  if (!existsSync(file)) throw bootError('PLUGIN_NOT_FOUND', { file })
  const packaged = file.includes(`${sep}node_modules${sep}`)
  if (packaged && /\.[cm]?tsx?$/.test(file)) throw bootError('PLUGIN_TYPESCRIPT', { file })
}
