import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What Cordage reads of a package.json. */
export interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly description?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly cordage?: {
    readonly api?: string
    /** Of a bundle: its layer, relative to the package. */
    readonly bundle?: string
    /** Of a profile: its bundles, in order. */
    readonly bundles?: readonly string[]
    /** Of a profile: the preset that an agent gets unless it asks for another. */
    readonly preset?: string
    /** Of a plugin: the effects that its author says it has, as in `net:api.example.com`. */
    readonly uses?: readonly string[]
    /** Of a profile in the home: what was added, by package name or absolute path. */
    readonly plugins?: readonly string[]
  }
}

export function readManifest(folder: string): Manifest | undefined {
  const file = join(folder, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined
}

/** The real folder of an installed package as a file in `from` sees it, whatever it exports. */
export function findPackage(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
    if (dirname(at) === at) return undefined
  }
}

/** The manifest of the package that `file` belongs to. */
export function manifestOf(file: string): Manifest | undefined {
  for (let at = dirname(file); dirname(at) !== at; at = dirname(at)) {
    const manifest = readManifest(at)
    // A nested package.json without a name only says which kind of modules are below it.
    if (manifest?.name !== undefined) return manifest
  }
  return undefined
}
