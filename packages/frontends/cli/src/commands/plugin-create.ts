import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type * as CreatePlugin from '@cordage/create-plugin'
import { packageFolder, version } from '../boot/installation.ts'
import { resolveFrom } from '../boot/resolve.ts'
import { pluginError } from '../plugin/errors.ts'
import { cliError } from './errors.ts'
import type { GlobalOptions } from './options.ts'

export interface CreateOptions extends GlobalOptions {
  readonly kind: string
  readonly directory?: string
}

/** Writes a package that tests, builds and packs as it is. */
export async function createPlugin(name: string, options: CreateOptions): Promise<number> {
  const kit = await loadKit()
  if (!kit.isPackageName(name)) {
    const reason = `"${name}" is no name of a package. Take lower-case words: @acme/weather`
    throw cliError('USAGE', { reason })
  }
  if (!kit.isKind(options.kind)) {
    throw cliError('USAGE', { reason: `--kind takes one of ${kit.kinds.join(', ')}.` })
  }
  const folder = resolve(options.directory ?? basename(name))
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw pluginError('PLUGIN_FOLDER_TAKEN', { folder })
  }
  const files = kit.scaffold({ name, kind: options.kind, version, year: new Date().getFullYear() })
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const here = relative('.', folder) || '.'
  process.stdout.write(`${name} is in ${folder}. Next:

  cd ${here}
  npm install
  npm test
  npm run build
  cordage plugin add .
`)
  return 0
}

/** A plugin of the kit like any other, and so it is found as a row's is. */
async function loadKit(): Promise<typeof CreatePlugin> {
  const url = resolveFrom('@cordage/create-plugin', join(packageFolder, 'package.json'))
  return (await import(url)) as typeof CreatePlugin
}
