import { reasonOf } from '@cordage/core/kernel'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bootError } from './errors.ts'
import { readText } from './read-text.ts'

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
    /** Of a bundle: its catalogue of models, relative to the package. */
    readonly catalogue?: string
    /** Of a profile: its bundles, in order. */
    readonly bundles?: readonly string[]
    /** Of a profile: the preset that an agent gets unless it asks for another. */
    readonly preset?: string
    /** Of a plugin: the effects that its author says it has, as in `net:api.example.com`. */
    readonly uses?: readonly string[]
    /** Of a profile in the home: what was added, by package name or absolute path. */
    readonly plugins?: readonly string[]
  }
  /** What is of another type than it has to be, and is taken as not there, with that type. */
  readonly faults?: readonly string[]
}

/** Throws `MANIFEST_INVALID`: strangers write manifests, and people edit that of their profile. */
export function readManifest(folder: string): Manifest | undefined {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return undefined
  const invalid = (reason: string) => bootError('MANIFEST_INVALID', { file, reason })
  let value: unknown
  try {
    value = JSON.parse(readText(file))
  } catch (error) {
    throw invalid(reasonOf(error))
  }
  if (!isObject(value)) throw invalid('it is no object')
  const { cordage = {} } = value
  const own = isObject(cordage) ? typed(cordage, OWN, 'cordage.') : { kept: {}, faults: [] }
  const { kept, faults } = typed(value, OF_NPM, '')
  return { ...kept, cordage: own.kept, faults: [...faults, ...own.faults] }
}

interface FieldType {
  readonly is: (value: unknown) => boolean
  readonly named: string
}

const isText = (value: unknown): boolean => typeof value === 'string'
const TEXT = { is: isText, named: 'a text' }
const TEXTS = {
  is: (value: unknown) => Array.isArray(value) && value.every(isText),
  named: 'a list of texts',
}
const BY_NAME = {
  is: (value: unknown) => isObject(value) && Object.values(value).every(isText),
  named: 'texts by name',
}
const OF_NPM = {
  name: TEXT,
  version: TEXT,
  description: TEXT,
  dependencies: BY_NAME,
  scripts: BY_NAME,
}
const OWN = {
  api: TEXT,
  bundle: TEXT,
  catalogue: TEXT,
  preset: TEXT,
  bundles: TEXTS,
  uses: TEXTS,
  plugins: TEXTS,
}

/** The fields that are of their type, and a word on each that is not. */
function typed(
  value: Readonly<Record<string, unknown>>,
  types: Readonly<Record<string, FieldType>>,
  prefix: string,
): { kept: Record<string, unknown>; faults: string[] } {
  const kept: Record<string, unknown> = {}
  const faults: string[] = []
  for (const [name, { is, named }] of Object.entries(types)) {
    if (is(value[name])) kept[name] = value[name]
    else if (value[name] !== undefined) faults.push(`${prefix}${name} has to be ${named}`)
  }
  return { kept, faults }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
