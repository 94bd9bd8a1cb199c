import { randomBytes } from 'node:crypto'
import { lstat, readdir, unlink } from 'node:fs/promises'
import type { Directory } from './directory.ts'

const draftName = /^\.cordage-[0-9a-f]{16}\.tmp$/
/** A file is written within moments: what is a draft for so long is left of a process that died. */
const maxAgeMs = 3_600_000

/** Directories in which this process has looked for what others left. */
const tidied = new Set<string>()

/** A name for a file of `directory` that is not whole yet. */
export function newDraft(directory: Directory): string {
  return directory.at(`.cordage-${randomBytes(8).toString('hex')}.tmp`)
}

/** Removes what writers that died left in a directory that this process is about to write to. */
export async function removeLeftDrafts(directory: Directory): Promise<void> {
  if (tidied.has(directory.path)) return
  tidied.add(directory.path)
  try {
    for (const name of await readdir(directory.at('.'))) {
      if (!draftName.test(name)) continue
      const found = await lstat(directory.at(name))
      const left = found.isFile() && Date.now() - found.mtimeMs > maxAgeMs
      if (left) await unlink(directory.at(name))
    }
  } catch {
    // Best effort: a directory that cannot be read or changed may be written to all the same.
  }
}
