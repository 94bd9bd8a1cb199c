import { spawnSync } from 'node:child_process'

/** Runs a tool of the workspace and ends this process when it fails. */
export function run(tool, args) {
  const { status, error } = spawnSync(tool, args, {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (error) console.error(error.message)
  if (status !== 0) process.exit(status ?? 1)
}
