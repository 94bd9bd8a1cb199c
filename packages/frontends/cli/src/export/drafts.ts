import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** What is behind the name of a file in that of its draft: the process that writes it. */
const ending = /\.(\d+)\.tmp$/

export function draftOf(path: string, pid: number): string {
  return `${path}.${pid}.tmp`
}

/** The name of the file that a draft is of; any other name as it is. */
export function nameOfDraft(name: string): string {
  return name.replace(ending, '')
}

/** Removes the drafts of a file whose processes died before it was whole. */
export async function removeLeftDrafts(path: string): Promise<void> {
  const folder = dirname(path)
  const names = await readdir(folder).catch(() => {
    // Making the draft says what is wrong with the folder.
    return []
  })
  for (const name of names) {
    const pid = Number(ending.exec(name)?.[1])
    if (name === basename(draftOf(path, pid)) && !isAlive(pid)) await rm(join(folder, name))
  }
}

/** This process has made none yet: one with its number is of an earlier life. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
