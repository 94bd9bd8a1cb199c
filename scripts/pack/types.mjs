import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { run } from '../run.mjs'
import { SHARED } from './manifest.mjs'
import { root } from './packages.mjs'

/** Declares every package of the workspace once; gives the folder that mirrors the repository. */
export function declareAll(cache) {
  const out = join(cache, 'types')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  const project = join(cache, 'tsconfig.json')
  const compilerOptions = {
    noEmit: false,
    // `npm test` checks; here it would only cost time.
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir: out,
  }
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    include: [join(root, 'packages/core/src'), join(root, 'packages/*/*/src')],
    exclude: [],
  }
  writeFileSync(project, JSON.stringify(config))
  run('tsc', ['--project', project])
  return out
}

/**
 * Copies what is reachable from the entries of a package into `out`; declarations stay files of
 * their own, because augmentations of modules do not survive bundling. Gives the packages named.
 */
export function copyTypes({ folder, manifest }, entries, types, out) {
  const source = join(types, folder, 'src')
  const isCore = manifest.name === '@cordage/core'
  const named = new Set()
  const seen = new Set()
  const visit = (file) => {
    if (seen.has(file)) return
    seen.add(file)
    const text = readFileSync(file, 'utf8')
    const changed = text.replaceAll(IMPORT, (match, before, quote, id) => {
      if (!id.startsWith('.')) {
        // A plugin has the shared libraries of core, in its types as in its code.
        const from = SHARED.includes(id) && !isCore ? `@cordage/core/${id}` : id
        named.add(packageOf(from))
        return `${before}${quote}${from}${quote}`
      }
      visit(declarationOf(join(dirname(file), id)))
      return `${before}${quote}${id.replace(/\.ts$/, '.js')}${quote}`
    })
    const target = join(out, relative(source, file))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, changed)
  }
  for (const entry of entries) visit(join(source, entry.replace(/\.ts$/, '.d.ts')))
  return [...named].filter((name) => !name.startsWith('node:'))
}

const IMPORT = /(\bfrom |\bimport |\bimport\(|\bmodule )(['"])([^'"]+)\2/g

function declarationOf(path) {
  return path.replace(/\.ts$/, '.d.ts')
}

function packageOf(id) {
  const parts = id.split('/')
  return parts.slice(0, id.startsWith('@') ? 2 : 1).join('/')
}
