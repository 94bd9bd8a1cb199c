import { execFile } from 'node:child_process'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const repository = resolve(import.meta.dirname, '../../../..')
const exec = promisify(execFile)

/** What a plugin finds after `npm install`, as links into this checkout. */
const TOOLS: Readonly<Record<string, string>> = {
  '@types/node': 'node_modules/@types/node',
  typescript: 'node_modules/typescript',
  vitest: 'node_modules/vitest',
  // As npm links them; the scripts of pnpm know only their own place.
  '.bin/vitest': 'node_modules/vitest/vitest.mjs',
  '.bin/tsc': 'node_modules/typescript/bin/tsc',
}
const SOURCES: Readonly<Record<string, string>> = {
  '@cordage/core': 'packages/core',
  '@cordage/testkit': 'packages/kit/testkit',
  zod: 'node_modules/zod',
}

/** An installation of the packed product, when that is what is tested. */
const packed = process.env['CORDAGE_PACKED']
const UNPACKED = ['core', 'testkit', 'env-local', 'store-memory']

/** Stands for `npm install` in a plugin's folder, which would ask a registry. */
export async function linkWorkspace(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  const links = packed === undefined ? { ...SOURCES, ...TOOLS } : TOOLS
  for (const [name, target] of Object.entries(links)) {
    await link(join(repository, target), join(modules, name))
  }
  if (packed === undefined) return
  for (const name of await readdir(join(packed, 'node_modules'))) {
    const isLibrary = !/^\.|^@(cordage|types)$|^(cordage|typescript|vitest)$/.test(name)
    if (isLibrary) await link(join(packed, 'node_modules', name), join(modules, name))
  }
  for (const name of UNPACKED) {
    const tarball = join(repository, `dist-tarballs/cordage-${name}-0.1.0.tgz`)
    const target = join(modules, '@cordage', name)
    await mkdir(target, { recursive: true })
    await exec('tar', ['-xzf', tarball, '--strip-components=1', '-C', target])
  }
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await symlink(target, path)
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
