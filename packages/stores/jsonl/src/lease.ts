import { lstatSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { IoLock } from '@cordage/core/store'
import type { Database } from 'better-sqlite3'
import { errorCode } from './io.ts'

/** A collected handle silently drops its lock, so every held one stays reachable from here. */
const held = new Set<Database>()

/** How long a lock waits for somebody who only looks; a live owner never lets go that soon. */
const lookMs = 50

/**
 * Liveness is an exclusive SQLite transaction: the kernel frees it with the process, so neither
 * pids nor clocks are needed. The file must never be opened in another way by this process:
 * closing any other descriptor of it would drop the lock (POSIX).
 */
export async function takeLease(path: string, force: boolean): Promise<IoLock | undefined> {
  await ensure(path)
  const before = await identity(path)
  const database = await lock(path)
  if (database && before === (await identity(path))) return leaseOf(path, database, before, false)
  if (database) release(database)
  return force ? replace(path) : undefined
}

export async function isLeased(path: string): Promise<boolean> {
  if ((await identity(path)) === undefined) return false
  const database = await connect(path, 0)
  try {
    // A read takes the shared lock, which an owner's exclusive one refuses.
    database.prepare('SELECT 1 FROM sqlite_schema').all()
    return false
  } catch (error) {
    return errorCode(error) === 'SQLITE_BUSY'
  } finally {
    database.close()
  }
}

/** The old owner keeps its lock on a file without a name; the segments fence it out. */
async function replace(path: string): Promise<IoLock | undefined> {
  const draft = `${path}.${process.pid}-${Math.random().toString(36).slice(2, 10)}.tmp`
  await ensure(draft)
  const id = await identity(draft)
  const database = await lock(draft)
  if (!database) return undefined
  try {
    await rename(draft, path)
  } catch (error) {
    release(database)
    throw error
  }
  return leaseOf(path, database, id, true)
}

function leaseOf(
  path: string,
  database: Database,
  id: string | undefined,
  takenOver: boolean,
): IoLock {
  return {
    takenOver,
    current: async () => id === (await identity(path)),
    release: async () => release(database),
  }
}

async function lock(path: string): Promise<Database | undefined> {
  const database = await connect(path, lookMs)
  try {
    database.exec('BEGIN EXCLUSIVE')
    held.add(database)
    return database
  } catch (error) {
    database.close()
    // Busy, or no database at all: in both cases only `force` gets the lease.
    const code = errorCode(error) ?? ''
    if (code.startsWith('SQLITE_BUSY') || code === 'SQLITE_NOTADB') return undefined
    throw error
  }
}

function release(database: Database): void {
  held.delete(database)
  database.close()
}

async function connect(path: string, timeout: number): Promise<Database> {
  const { default: Sqlite } = await import('better-sqlite3')
  return new Sqlite(path, { timeout })
}

/** Only a file that does not exist yet may be opened here: see `takeLease`. */
async function ensure(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close()
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

// Asked at every append: quicker in place than to have another thread look.
async function identity(path: string): Promise<string | undefined> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats && `${stats.dev}:${stats.ino}`
}
