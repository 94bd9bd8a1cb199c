import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What an installation costs: its size on the disk, and whose packages it brings. */
export interface Footprint {
  readonly megabytes: number
  readonly thirdParty: readonly string[]
  /** Packages that run a script when they are installed: to compile or to download something. */
  readonly withScripts: readonly string[]
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>
}

/** Of the `node_modules` in `folder`, as npm made them. */
export function measureInstall(folder: string): Footprint {
  const lockfile = join(folder, 'node_modules/.package-lock.json')
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as Lockfile
  const nameOf = (path: string) => path.split('node_modules/').at(-1) ?? path
  const names = Object.keys(packages).map(nameOf)
  const scripts = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript)
  return {
    megabytes: sizeOf(join(folder, 'node_modules')) / 1e6,
    thirdParty: names.filter((name) => name !== 'cordage' && !name.startsWith('@cordage/')),
    withScripts: scripts.map(([path]) => nameOf(path)),
  }
}

function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0)
}
