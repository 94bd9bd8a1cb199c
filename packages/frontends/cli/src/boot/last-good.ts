import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { LayerSource } from '@cordage/core/compose'
import { bootError } from './errors.ts'
import { makeDirectory } from './make-directory.ts'
import { readText } from './read-text.ts'

/** The layers of the last boot of a profile that succeeded, as they were then. */
export interface LastGood {
  /** Epoch milliseconds. */
  readonly savedAt: number
  readonly layers: readonly LayerSource[]
}

function fileOf(home: string, profile: string): string {
  return join(home, 'last-good', `${encodeURIComponent(profile)}.json`)
}

/** Throws `LAST_GOOD_NONE`. */
export function readLastGood(home: string, profile: string): LastGood {
  const file = fileOf(home, profile)
  try {
    return JSON.parse(readText(file)) as LastGood
  } catch (error) {
    throw bootError('LAST_GOOD_NONE', { profile, file }, { cause: error })
  }
}

/** Keeps the layers of a boot that succeeded; nothing is written while they stay the same. */
export function keepLastGood(home: string, profile: string, layers: readonly LayerSource[]): void {
  const file = fileOf(home, profile)
  if (isKept(file, layers)) return
  makeDirectory(dirname(file))
  const fresh = `${file}.${process.pid}`
  try {
    const kept: LastGood = { savedAt: Date.now(), layers }
    writeFileSync(fresh, JSON.stringify(kept), { mode: 0o600 })
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}

function isKept(file: string, layers: readonly LayerSource[]): boolean {
  try {
    const kept = JSON.parse(readText(file)) as LastGood
    return JSON.stringify(kept.layers) === JSON.stringify(layers)
  } catch {
    // None yet, or one that is damaged: it is written again.
    return false
  }
}
