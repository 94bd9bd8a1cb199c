import { existsSync, realpathSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { readManifest } from './manifest.ts'

/** The folder of the package `cordage` itself. */
export const packageFolder = realpathSync(resolve(import.meta.dirname, '..', '..'))

export const version = readManifest(packageFolder)?.version ?? 'unknown'

/** Where the installation's own layer is: the checkout, or the folder around node_modules. */
export function installationRoot(): string {
  const inside = packageFolder.indexOf(`${sep}node_modules${sep}`)
  if (inside >= 0) return packageFolder.slice(0, inside)
  for (let at = packageFolder; dirname(at) !== at; at = dirname(at)) {
    if (existsSync(join(at, 'pnpm-workspace.yaml'))) return at
  }
  return packageFolder
}

/** `$CORDAGE_HOME`, else `~/.cordage`. */
export function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  // An empty HOME would make every project a home.
  return resolve(env['CORDAGE_HOME'] || join(homedir() || userInfo().homedir, '.cordage'))
}

export function logFileOf(home: string): string {
  return join(home, 'logs', 'cordage.log')
}
