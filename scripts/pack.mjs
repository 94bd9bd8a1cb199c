// Builds what would be published: a tarball of each package below dist-tarballs/.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from './pack/bundle.mjs'
import { noticesOf } from './pack/licences.mjs'
import { publishedManifest, SHARED } from './pack/manifest.mjs'
import { byDependency, readJson, readPackages, root } from './pack/packages.mjs'
import { copyTypes, declareAll } from './pack/types.mjs'
import { run } from './run.mjs'

const cache = join(root, '.cache/pack')
const tarballs = join(root, 'dist-tarballs')

const { version } = readJson(join(root, 'package.json'))
const packages = byDependency(readPackages())
const types = declareAll(cache)
rmSync(join(cache, 'staged'), { recursive: true, force: true })
const staged = []
for (const one of packages) staged.push(await stage(one))
// Those of before stay where a package does not build.
rmSync(tarballs, { recursive: true, force: true })
mkdirSync(tarballs, { recursive: true })
run('npm', ['pack', '--loglevel=error', '--silent', '--pack-destination', tarballs, ...staged])
const index = packages.map(({ manifest }) => [manifest.name, tarballOf(manifest)])
writeFileSync(
  join(tarballs, 'index.json'),
  `${JSON.stringify(Object.fromEntries(index), undefined, 2)}\n`,
)
console.log(`${packages.length} packages of ${version} are in dist-tarballs/`)

/** Lays out a package as its tarball will be; gives the folder. */
async function stage(one) {
  const { folder, manifest, hasCode } = one
  const target = join(cache, 'staged', manifest.name.replace('/', '-'))
  mkdirSync(target, { recursive: true })
  const published = publishedManifest(one, version)
  if (hasCode) await build(one, published, target)
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
  for (const name of ['README.md', 'bin', ...(manifest.files ?? [])]) {
    const from = join(root, folder, name)
    if (existsSync(from)) cpSync(from, join(target, name), { recursive: true })
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`)
  if (manifest.name === 'cordage') keepHelp(target)
  return target
}

/** The launcher prints this text itself: nobody waits for a program to be told how to use it. */
function keepHelp(target) {
  const args = [join(target, 'bin/cordage.js'), '--help']
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0 || !stdout.startsWith('Usage:')) throw new Error('--help prints no help')
  writeFileSync(join(target, 'dist/help.txt'), stdout)
}

async function build(one, published, target) {
  const out = join(target, 'dist')
  const libraries = await bundle(one, out)
  if (libraries.length > 0) {
    writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), noticesOf(libraries))
  }
  const isCore = one.folder === 'packages/core'
  const entries = isCore
    ? globSync('*/index.ts', { cwd: join(root, one.folder, 'src') })
    : ['index.ts']
  const named = copyTypes(one, entries, types, out)
  if (isCore) SHARED.forEach((library) => writeShare(library, published, out))
  const { name, dependencies = {}, peerDependencies = {} } = published
  const unknown = named.filter((one) => {
    return one !== name && !(one in dependencies) && !(one in peerDependencies)
  })
  if (unknown.length > 0) throw new Error(`types of ${name} need ${unknown.join(', ')}`)
}

/** Types of a shared library, for packages whose own types name it. */
function writeShare(library, { dependencies }, out) {
  if (!(library in dependencies)) return
  writeFileSync(join(out, library, 'index.d.ts'), `export * from '${library}'\n`)
}

/** Listed in the order to publish in: every package after those that it needs. */
function tarballOf({ name, dependencies = {}, peerDependencies = {} }) {
  const needs = Object.entries({ ...dependencies, ...peerDependencies })
    .filter(([, range]) => range.startsWith('workspace:'))
    .map(([one]) => one)
  return { file: `${name.replace('@', '').replace('/', '-')}-${version}.tgz`, needs }
}
