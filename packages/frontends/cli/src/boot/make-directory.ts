import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { bootError } from './errors.ts'

/**
 * Makes a folder and those above it, for its owner only unless `mode` says more. One level at a
 * time: `recursive` never returns where a parent is there and takes no folder, as in /proc.
 */
export function makeDirectory(path: string, mode = 0o700): void {
  if (isDirectory(path)) return
  if (dirname(path) !== path) makeDirectory(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have been quicker.
    if (!isDirectory(path)) throw error
  }
}

/** Throws `HOME_UNUSABLE` where no home is and none can be made. */
export function makeHome(home: string): void {
  try {
    makeDirectory(home)
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    const reason = code === 'EEXIST' ? `${path} is not a folder` : systemReason(error)
    throw bootError('HOME_UNUSABLE', { home, reason }, { cause: error })
  }
}

/** What the system says, without the call and the path that Node adds. */
export function systemReason(error: unknown): string {
  const number = error instanceof Error && 'errno' in error ? error.errno : undefined
  return typeof number === 'number' ? getSystemErrorMessage(number) : String(error)
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
