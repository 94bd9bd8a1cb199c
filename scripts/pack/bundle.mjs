import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { z } from 'zod'
import { KEPT, SHARED } from './manifest.mjs'
import { root } from './packages.mjs'

const CORE = '@cordage/core'
const OLDEST_NODE = 'node22.19'
/** What stands for a shared library outside of core. */
const shareOf = (library) => `${CORE}/${library}`

/** Bundles a package into `out`; gives the folders of the libraries that are in it. */
export async function bundle({ folder, manifest }, out) {
  const isCore = manifest.name === CORE
  const source = join(root, folder, 'src')
  const build = await rolldown({
    cwd: root,
    platform: 'node',
    // Sources are written for the Node that develops them; people may run an older one.
    transform: { target: OLDEST_NODE },
    input: isCore ? coreEntries(source) : entries(source),
    external: isCore ? isKept : (id) => isKept(id) || id.startsWith('@cordage/'),
    plugins: [isCore ? sharedByCore() : sharedFromCore()],
    onLog: (level, log, handler) => handler(level === 'warn' ? 'error' : level, log),
  })
  const { output } = await build.write({
    dir: out,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    comments: { legal: false, annotation: false, jsdoc: false },
    codeSplitting: { groups: isCore ? coreGroups : groups },
  })
  await build.close()
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  return [...new Set(modules.map(libraryOf).filter((library) => library !== undefined))].toSorted()
}

function isKept(id) {
  return KEPT.some((name) => id === name || id.startsWith(`${name}/`))
}

function coreEntries(source) {
  const folders = globSync('*/index.ts', { cwd: source }).map((file) => dirname(file))
  const inputs = folders.map((name) => [`${name}/index`, join(source, name, 'index.ts')])
  const shared = SHARED.map((library) => [`${library}/index`, shareOf(library)])
  return Object.fromEntries([...inputs, ...shared])
}

function entries(source) {
  const named = ['index.ts', 'main.ts'].filter((name) => existsSync(join(source, name)))
  // A thread begins in a file of its own.
  const threads = globSync('*-worker.ts', { cwd: source })
  const files = [...named, ...threads].map((name) => join(source, name))
  return Object.fromEntries(files.map((file) => [basename(file, '.ts'), file]))
}

/**
 * Nearly every start needs nearly all of core, and one file is read faster than sixty. A thread that
 * searches needs its words alone.
 */
const apart = /[\\/]node_modules[\\/]diff[\\/]|[\\/]core[\\/]src[\\/]search[\\/]/
const coreGroups = [{ name: 'core', test: (id) => !apart.test(id) }]

/** `cordage --help` needs to know where it is installed, and nothing else of a boot. */
const groups = [{ name: 'installation', test: /src[\\/]boot[\\/](installation|manifest)\.ts$/ }]

/** A plugin takes the shared libraries from core. */
function sharedFromCore() {
  return {
    name: 'shared-from-core',
    resolveId: (id) => (SHARED.includes(id) ? { id: shareOf(id), external: true } : null),
  }
}

/** Core has a module for each library that it shares, which exports what our packages use. */
function sharedByCore() {
  return {
    name: 'shared-by-core',
    resolveId: (id) => (SHARED.some((library) => id === shareOf(library)) ? `\0${id}` : null),
    load: (id) => {
      if (id === `\0${shareOf('yaml')}`) return `export { ${usedOf('yaml')} } from 'yaml'`
      if (id !== `\0${shareOf('zod')}`) return null
      const members = usedSchemas().map((name) => `${name}: all.${name}`)
      return `import * as all from 'zod'\nexport const z = { ${members.join(', ')} }`
    },
  }
}

function usedSchemas() {
  const names = sourcesWith(`from 'zod'`).flatMap((text) => {
    return [...text.matchAll(/\bz\s*\.\s*(\w+)/g)].map(([, name]) => name)
  })
  return [...new Set(names)].filter((name) => typeof Reflect.get(z, name) === 'function').toSorted()
}

function usedOf(library) {
  const imports = new RegExp(`^import \\{([^}]+)\\} from '${library}'`, 'gm')
  const names = sourcesWith(`from '${library}'`).flatMap((text) => {
    return [...text.matchAll(imports)].flatMap(([, list]) => list.split(','))
  })
  const plain = names.map((name) => name.trim().replace(/^type .*| as .*/, ''))
  return [...new Set(plain)].filter((name) => name !== '').toSorted()
}

function sourcesWith(words) {
  const files = globSync('packages/**/src/**/*.ts', { cwd: root, exclude: ['**/node_modules'] })
  return files
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .filter((text) => text.includes(words))
}

/** The folder of the package in node_modules that a bundled module comes from. */
function libraryOf(id) {
  const match = /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)
  return match?.[1]
}
