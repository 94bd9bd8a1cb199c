// Installs the workspace when it is missing or older than the lockfile. Runs on any Node from 18 on.
import { existsSync, statSync } from 'node:fs'
import { spawnSync } from 'node:child_process'

const PNPM = 'pnpm@10.34.8'
const installed = 'node_modules/.modules.yaml'
const lockfile = 'pnpm-lock.yaml'

const stale = !existsSync(installed) || statSync(installed).mtimeMs < statSync(lockfile).mtimeMs
if (stale) {
  const command = ['-y', PNPM, 'install', '--frozen-lockfile']
  const shell = process.platform === 'win32'
  const { status } = spawnSync('npx', command, { stdio: 'inherit', shell })
  // A null status means that a signal ended the install: that is a failure too.
  if (status !== 0) process.exit(status ?? 1)
}
