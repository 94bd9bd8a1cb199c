/**
 * Libraries that stay dependencies: native ones, large ones that few runs need, `cordis`, because
 * plain Cordis plugins import it and there may be one container only, and the runner of the tests.
 * Everything else is bundled into the package that uses it.
 */
export const KEPT = [
  '@mongodb-js/zstd',
  '@vscode/ripgrep',
  'better-sqlite3',
  'cordis',
  'unpdf',
  'vitest',
]

/** Bundled once, in core, for all of ours: a second `zod` costs each start ten milliseconds. */
export const SHARED = ['yaml', 'zod']

/** The types of core name these libraries, so that npm installs them for their types alone. */
const TYPES_OF_CORE = ['zod']

/** The package.json that is published, from the one of the sources. */
export function publishedManifest({ manifest, hasCode }, version) {
  const { publishConfig = {}, files, ...source } = manifest
  const {
    dependencies: _,
    devDependencies: __,
    peerDependencies: ___,
    exports: ____,
    ...rest
  } = source
  const exported = publishConfig.exports && { ...publishConfig.exports, ...ownManifest }
  return {
    ...rest,
    version,
    engines: { node: '>=22.19.0' },
    ...(exported ? { exports: exported } : {}),
    ...(hasCode ? { sideEffects: false } : {}),
    files: [...new Set(['dist', 'bin', ...(files ?? []), 'THIRD-PARTY-LICENSES.txt'])],
    ...dependenciesOf(manifest, version),
  }
}

const ownManifest = { './package.json': './package.json' }

function dependenciesOf({ name, dependencies = {}, peerDependencies }, version) {
  const exact = (ranges) => {
    const pinned = Object.entries(ranges).map(([one, range]) => [
      one,
      range.startsWith('workspace:') ? version : range,
    ])
    return Object.fromEntries(pinned)
  }
  const installed = Object.entries(dependencies).filter(
    ([one, range]) => range.startsWith('workspace:') || isInstalled(one, name),
  )
  return {
    ...(installed.length > 0 ? { dependencies: exact(Object.fromEntries(installed)) } : {}),
    ...(peerDependencies ? { peerDependencies: exact(peerDependencies) } : {}),
  }
}

/** Whether npm installs `library` for the package `owner`, rather than finding it in its bundle. */
export function isInstalled(library, owner) {
  return KEPT.includes(library) || (TYPES_OF_CORE.includes(library) && owner === '@cordage/core')
}
