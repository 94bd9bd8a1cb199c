import { spawn } from 'node:child_process'
import { pluginError } from './errors.ts'

/** A plugin runs no code when it is installed, and `@cordage/core` is never installed for it. */
const ALWAYS = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']

/**
 * Runs `npm <args>` in `folder`, which holds a package.json; not with `--prefix`, which also moves
 * where npm looks for the registry, proxy and certificates of all users. With `offline` first
 * without the network, and with it only where the cache lacks a dependency. Throws
 * `PLUGIN_NPM_FAILED`.
 */
export async function npm(
  folder: string,
  args: readonly string[],
  { offline }: { offline: boolean },
): Promise<void> {
  const quiet = ['--loglevel=error', '--no-update-notifier']
  const whole = [...args, ...ALWAYS, ...quiet]
  let ended = await run(folder, [...whole, offline ? '--offline' : '--prefer-online'])
  if (offline && /ENOTCACHED/.test(ended.output)) ended = await run(folder, whole)
  if (ended.code === 0) return
  const command = `npm ${args.join(' ')}`
  throw pluginError('PLUGIN_NPM_FAILED', { command, reason: reasonOf(ended.output) })
}

interface Ended {
  readonly code: number | null
  readonly output: string
}

function run(cwd: string, args: readonly string[]): Promise<Ended> {
  // On Windows npm is a script of the shell, which would read an argument as its own.
  const windows = process.platform === 'win32'
  const quoted = windows ? args.map((argument) => `"${argument}"`) : args
  return new Promise((resolve) => {
    const child = spawn('npm', quoted, { cwd, shell: windows, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.once('error', () =>
      resolve({ code: -1, output: 'npm error there is no npm on the PATH.' }),
    )
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** npm's own words, without the lines that only point at a log. */
function reasonOf(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '' && !/^(code|errno|syscall|A complete log)/.test(line))
  return lines.slice(0, 3).join(' ') || 'it does not say why.'
}
