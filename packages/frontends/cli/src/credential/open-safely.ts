import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs'
import { credentialFileError } from './errors.ts'

// A link is not followed, and a pipe of that name is not waited for; Windows knows neither flag.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Hands `use` an open file that is its owner's alone; `undefined` where there is none. Throws
 * `CREDENTIAL_FILE_UNSAFE` with the reason and what to do.
 */
export function openSafely<T>(file: string, use: (fd: number, stat: Stats) => T): T | undefined {
  // Mostly there is none: to find that out by an error costs ten times as much.
  if (!lstatSync(file, { throwIfNoEntry: false })) return undefined
  let fd: number
  try {
    fd = openSync(file, FLAGS)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ENOENT') return undefined
    throw unsafe(file, ...openFault(file, code), error)
  }
  try {
    const stat = fstatSync(fd)
    const fault = faultOf(file, stat)
    if (fault !== undefined) throw unsafe(file, ...fault)
    return use(fd, stat)
  } finally {
    closeSync(fd)
  }
}

type Fault = [reason: string, remedy: string]

function openFault(file: string, code: string): Fault {
  if (code === 'ELOOP') return ['it is a symbolic link', 'Put the file itself there.']
  return [`it cannot be opened (${code})`, `Make it yours: chown "$USER" ${file}`]
}

function faultOf(file: string, stat: Stats): Fault | undefined {
  if (!stat.isFile()) return ['it is not a file', `Move it away: mv ${file} ${file}.old`]
  const user = process.geteuid?.()
  // Windows has neither owners nor modes that say something.
  if (user === undefined) return undefined
  if (stat.uid !== user) {
    const owner = `it belongs to another user (${stat.uid}, and this process runs as ${user})`
    return [owner, `If it is yours: chown ${user} ${file}`]
  }
  const mode = stat.mode & 0o777
  if ((mode & 0o077) === 0) return undefined
  const open = mode.toString(8).padStart(4, '0')
  return [`others on this machine may get at it (mode ${open})`, `Run: chmod 600 ${file}`]
}

function unsafe(file: string, reason: string, remedy: string, cause?: unknown): Error {
  return credentialFileError('CREDENTIAL_FILE_UNSAFE', { file, reason, remedy }, { cause })
}
