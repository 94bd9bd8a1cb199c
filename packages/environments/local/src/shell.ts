import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Processes } from '@cordage/core/environment'

type Shell = Processes['shell']

const POWERSHELL_FLAGS = ['-NoProfile', '-NonInteractive', '-Command'] as const

/** The shell of this machine, by the path that will really run: bash, else sh, else PowerShell. */
export function findShell(path: string | undefined, platform: string = process.platform): Shell {
  return (
    findPosixShell('bash', path, platform) ??
    findPosixShell('sh', path, platform) ??
    findPowerShell(path, platform) ??
    posixShell('sh', '/bin/sh')
  )
}

function findPosixShell(
  kind: 'bash' | 'sh',
  path: string | undefined,
  platform: string,
): Shell | undefined {
  // What Windows brings under this name is a door to another system with other paths.
  if (platform === 'win32') return undefined
  const program = findProgram(kind, path)
  return program === undefined ? undefined : posixShell(kind, program)
}

function posixShell(kind: 'bash' | 'sh', program: string): Shell {
  // The dashes keep a command that starts with one from being read as an option.
  return { kind, argv: (command) => [program, '-c', '--', command] }
}

function findPowerShell(path: string | undefined, platform: string): Shell | undefined {
  const always = platform === 'win32' ? 'powershell.exe' : undefined
  const program = findProgram('pwsh', path) ?? always
  if (program === undefined) return undefined
  return { kind: 'powershell', argv: (command) => [program, ...POWERSHELL_FLAGS, command] }
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
