import { readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { isHarnessError } from '@cordage/core/error'
import type * as CreatePlugin from '@cordage/create-plugin'
import { packageFolder, version } from '../boot/installation.ts'
import { makeDirectory, systemReason } from '../boot/make-directory.ts'
import { resolveFrom } from '../boot/resolve.ts'
import { pluginError } from '../plugin/errors.ts'
import { cliError } from './errors.ts'
import type { GlobalOptions } from './options.ts'

export interface CreateOptions extends GlobalOptions {
  readonly kind: string
  readonly directory?: string
}

/** As people's own folders are, but for what their umask takes away. */
const PUBLIC = 0o777

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
  const files = kit.scaffold({ name, kind: options.kind, version, year: new Date().getFullYear() })
  writeFiles(folder, files)
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

function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  const refused = (reason: string, cause?: unknown) =>
    pluginError('PLUGIN_FOLDER_REFUSED', { folder, reason }, { cause })
  try {
    makeDirectory(folder, PUBLIC)
    if (readdirSync(folder).length > 0) throw refused('it has something in it already')
    for (const [path, text] of files) {
      makeDirectory(dirname(join(folder, path)), PUBLIC)
      writeFileSync(join(folder, path), text)
    }
  } catch (error) {
    throw isHarnessError(error) ? error : refused(systemReason(error), error)
  }
}

/** A plugin of the kit like any other, and so it is found as a row's is. */
async function loadKit(): Promise<typeof CreatePlugin> {
  const url = resolveFrom('@cordage/create-plugin', join(packageFolder, 'package.json'))
  return (await import(url)) as typeof CreatePlugin
}
