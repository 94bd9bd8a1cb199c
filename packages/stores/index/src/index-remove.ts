import { rmSync } from 'node:fs'

/** Removes the file and all that SQLite keeps beside it. */
export function removeIndex(path: string): void {
  if (path === ':memory:') return
  // The file last: what is beside a new one is of no use to it, and SQLite removes it.
  for (const end of ['-wal', '-shm', '-journal', '']) rmSync(`${path}${end}`, { force: true })
}
