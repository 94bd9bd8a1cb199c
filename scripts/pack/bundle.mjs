import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import * as zod from 'zod'
import { KEPT, SHARED_SCHEMAS } from './manifest.mjs'
import { root } from './packages.mjs'

const CORE = '@cordage/core'
/** One copy for every package of ours: a second one would cost each start some ten milliseconds. */
const SCHEMAS = `${CORE}/${SHARED_SCHEMAS}`

/** Bundles a package into `out`; gives the folders of the libraries that are in it. */
export async function bundle({ folder, manifest }, out) {
  const isCore = manifest.name === CORE
  const source = join(root, folder, 'src')
  const build = await rolldown({
    cwd: root,
    platform: 'node',
    input: isCore ? coreEntries(source) : entries(source),
    external: isCore ? isKept : (id) => isKept(id) || id.startsWith('@cordage/'),
    plugins: [isCore ? schemasOfCore() : schemasFromCore()],
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
  return Object.fromEntries([...inputs, [`${SHARED_SCHEMAS}/index`, SCHEMAS]])
}

function entries(source) {
  const files = ['index.ts', 'main.ts'].map((name) => join(source, name)).filter(existsSync)
  return Object.fromEntries(files.map((file) => [basename(file, '.ts'), file]))
}

/** Nearly every start needs nearly all of core, and one file is read faster than sixty. */
const coreGroups = [{ name: 'core', test: (id) => !/[\\/]node_modules[\\/]diff[\\/]/.test(id) }]

/** `cordage --help` needs to know where it is installed, and nothing else of a boot. */
const groups = [{ name: 'installation', test: /src[\\/]boot[\\/](installation|manifest)\.ts$/ }]

function schemasFromCore() {
  return {
    name: 'schemas-from-core',
    resolveId: (id) => (id === SHARED_SCHEMAS ? { id: SCHEMAS, external: true } : null),
  }
}

/** What our packages use of the library, as a module of core. */
function schemasOfCore() {
  return {
    name: 'schemas-of-core',
    resolveId: (id) => (id === SCHEMAS ? `\0${SCHEMAS}` : null),
    load(id) {
      if (id !== `\0${SCHEMAS}`) return null
      const members = usedSchemas().map((name) => `${name}: all.${name}`)
      return `import * as all from '${SHARED_SCHEMAS}'\nexport const z = { ${members.join(', ')} }`
    },
  }
}

function usedSchemas() {
  const files = globSync('packages/**/src/**/*.ts', { cwd: root, exclude: ['**/node_modules'] })
  const names = files
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .filter((text) => text.includes(`from '${SHARED_SCHEMAS}'`))
    .flatMap((text) => [...text.matchAll(/\bz\.(\w+)/g)].map(([, name]) => name))
  return [...new Set(names)].filter((name) => typeof zod[name] === 'function').toSorted()
}

/** The folder of the package in node_modules that a bundled module comes from. */
function libraryOf(id) {
  const match = /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)
  return match?.[1]
}
