import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { scaffold, type Kind } from '../src/index.ts'

const repository = resolve(import.meta.dirname, '../../../..')
const exec = promisify(execFile)

/** Where a plugin finds what `npm install` would bring: this checkout's own copies. */
const LINKS: Readonly<Record<string, string>> = {
  '@cordage/core': 'packages/core',
  '@cordage/testkit': 'packages/kit/testkit',
  '@types/node': 'node_modules/@types/node',
  typescript: 'node_modules/typescript',
  vitest: 'node_modules/vitest',
  zod: 'node_modules/zod',
  '.bin': 'node_modules/.bin',
}

export async function writePlugin(folder: string, name: string, kind: Kind): Promise<void> {
  for (const [path, text] of scaffold({ name, kind, version: '0.1.0', year: 2026 })) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

export async function linkWorkspace(folder: string): Promise<void> {
  for (const [name, target] of Object.entries(LINKS)) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(repository, target), link)
  }
}

/** Runs npm in a plugin's folder as its author would; gives stdout. */
export async function npmIn(folder: string, args: string[]): Promise<string> {
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`
  const env = { PATH: path, HOME: dirname(folder), npm_config_update_notifier: 'false' }
  const options = { cwd: folder, env, timeout: 110_000 }
  try {
    return (await exec('npm', args, options)).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`npm ${args.join(' ')}: ${stdout}${stderr}`, { cause: error })
  }
}
