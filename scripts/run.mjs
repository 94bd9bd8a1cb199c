import { spawnSync } from 'node:child_process'
import { delimiter, resolve, sep } from 'node:path'

const tools = resolve(import.meta.dirname, '../node_modules/.bin')

/** Runs a tool of the workspace, or npm, and ends this process when it fails. */
export function run(tool, args, cwd = process.cwd()) {
  const { status, error } = spawnSync(tool, args, {
    cwd,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, PATH: tool === 'npm' ? systemPath() : toolPath() },
  })
  if (error) console.error(error.message)
  if (status !== 0) process.exit(status ?? 1)
}

function toolPath() {
  return [tools, process.env.PATH].join(delimiter)
}

/**
 * Where npm finds the Node that it was installed with: beside that is its configuration for all
 * users, and with it the registry, proxy and certificates without which it waits for minutes.
 */
export function systemPath() {
  const folders = process.env.PATH.split(delimiter)
  return folders.filter((folder) => !folder.includes(`node_modules${sep}.bin`)).join(delimiter)
}
