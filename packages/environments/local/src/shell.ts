import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Processes } from '@cordage/core/environment'

/** The shell of this machine: bash where there is one, by the path that will really run. */
export function findShell(path: string | undefined): Processes['shell'] {
  if (process.platform === 'win32') {
    const flags = ['-NoProfile', '-NonInteractive', '-Command'] as const
    return { kind: 'powershell', argv: (command) => ['powershell.exe', ...flags, command] }
  }
  const bash = findProgram('bash', path)
  const program = bash ?? findProgram('sh', path) ?? '/bin/sh'
  // The dashes keep a command that starts with one from being read as an option.
  return { kind: bash ? 'bash' : 'sh', argv: (command) => [program, '-c', '--', command] }
}

function findProgram(name: string, path = '/usr/bin:/bin'): string | undefined {
  const candidates = path
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name))
  return candidates.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
