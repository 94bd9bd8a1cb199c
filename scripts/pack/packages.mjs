import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

/** What is published: `{ folder, manifest, hasCode }`, folders relative to the root. */
export function readPackages() {
  const places = ['packages/core', 'packages/*/*', 'bundles/*', 'profiles/*']
  return globSync(
    places.map((place) => `${place}/package.json`),
    { cwd: root },
  )
    .map((file) => dirname(file))
    .toSorted()
    .map((folder) => ({
      folder,
      manifest: readJson(join(root, folder, 'package.json')),
      hasCode: existsSync(join(root, folder, 'src')),
    }))
    .filter(({ manifest }) => manifest.private !== true)
}

export function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Every package after all those that it needs: the order to publish in. */
export function byDependency(packages) {
  const known = new Map(packages.map((one) => [one.manifest.name, one]))
  const ordered = new Set()
  const visit = (one) => {
    if (ordered.has(one)) return
    const { dependencies = {}, peerDependencies = {} } = one.manifest
    for (const name of Object.keys({ ...peerDependencies, ...dependencies })) {
      if (known.has(name)) visit(known.get(name))
    }
    ordered.add(one)
  }
  packages.forEach(visit)
  return [...ordered]
}
