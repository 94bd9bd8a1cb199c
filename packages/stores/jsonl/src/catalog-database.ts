import { closeSync, openSync, rmSync } from 'node:fs'
import Sqlite, { type Database, type Statement } from 'better-sqlite3'
import type { Seen, Stamp } from './catalog-rows.ts'

const schema = 1
/** How long another process may hold the file before this one does without. */
const busyMs = 200

/**
 * `catalog.db`. It only ever saves time: a file that is missing, spoiled, of another version, held
 * by somebody or not writable is made anew or replaced by one in memory.
 */
export class CatalogDatabase {
  readonly #path: string
  #database: Database
  #known = new Map<string, Seen>()
  #version: unknown
  readonly #statements = new Map<string, Statement>()

  constructor(path: string) {
    this.#path = path
    this.#database = this.#open()
  }

  /** What is known of each log, by its id; what other processes have learnt is among it. */
  known(): ReadonlyMap<string, Seen> {
    const version = this.#database.pragma('data_version', { simple: true })
    if (version !== this.#version) this.#load()
    this.#version = version
    return this.#known
  }

  put(logs: readonly Seen[]): void {
    if (logs.length === 0) return
    const put = this.#statement(`INSERT OR REPLACE INTO log VALUES (${'?,'.repeat(13)}?)`)
    this.#change(() => {
      for (const seen of logs) put.run(...valuesOf(seen))
    })
    for (const seen of logs) this.#known.set(seen.id, seen)
  }

  /** Gives whether nothing of these sessions is left in the file. */
  remove(ids: readonly string[]): boolean {
    if (ids.length === 0) return true
    const removed = this.#change(() => {
      const remove = this.#statement('DELETE FROM log WHERE id = ?')
      for (const id of ids) remove.run(id)
    })
    for (const id of ids) this.#known.delete(id)
    const busy = this.#database.pragma('wal_checkpoint(TRUNCATE)', { simple: true })
    return removed && busy === 0 && !this.#database.memory
  }

  /** Leaves nothing of a session that was deleted: where it cannot be taken out the file goes. */
  forget(id: string): void {
    if (!this.remove([id])) this.clear()
  }

  /** Begins again with nothing. */
  clear(): void {
    this.#database.close()
    removeFiles(this.#path)
    this.#database = this.#open()
  }

  close(): void {
    this.#database.close()
  }

  #open(): Database {
    for (const retry of [true, false]) {
      try {
        return this.#prepare(openFile(this.#path))
      } catch (error) {
        if (!isSpoiled(error) || !retry) break
        removeFiles(this.#path)
      }
    }
    return this.#prepare(new Sqlite(':memory:'))
  }

  /** Closes what cannot be used. */
  #prepare(database: Database): Database {
    try {
      database.pragma('journal_mode = WAL')
      database.pragma('synchronous = NORMAL')
      database.pragma('secure_delete = ON')
      const version = database.pragma('user_version', { simple: true })
      if (version !== schema) makeTable(database)
      this.#database = database
      this.#load()
      this.#version = database.pragma('data_version', { simple: true })
      return database
    } catch (error) {
      database.close()
      throw error
    }
  }

  #load(): void {
    const rows = this.#statement(`SELECT ${columns} FROM log`).raw().all() as Values[]
    this.#known = new Map(rows.map((row) => [row[0], seenOf(row)]))
  }

  /** What cannot be kept now is read again another time. */
  #change(work: () => void): boolean {
    try {
      this.#database.transaction(work)()
      return true
    } catch (error) {
      if (isSpoiled(error)) this.clear()
      return false
    }
  }

  #statement(sql: string): Statement {
    const kept = this.#statements.get(sql)
    if (kept?.database === this.#database) return kept
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

const columns =
  'id, log_ino, log_size, log_mtime, log_ctime, updated, unsettled, ' +
  'newest, ino, size, mtime, ctime, bytes, told'

type StampValues = [ino: number, size: number, mtime: number, ctime: number]
type Values = [
  ...[id: string, ...log: StampValues, updated: number, unsettled: number],
  ...[newest: string, ...segment: StampValues, bytes: number, told: string | null],
]

function valuesOf({ id, log, updatedAt, unsettled, ...files }: Seen): Values {
  const { newest, segment, bytes, told } = files
  const place = [id, ...valuesOfStamp(log), updatedAt, unsettled ? 1 : 0] as const
  return [...place, newest, ...valuesOfStamp(segment), bytes, told]
}

function valuesOfStamp({ ino, size, mtimeMs, ctimeMs }: Stamp): StampValues {
  return [ino, size, mtimeMs, ctimeMs]
}

function seenOf(row: Values): Seen {
  return {
    id: row[0],
    log: { ino: row[1], size: row[2], mtimeMs: row[3], ctimeMs: row[4] },
    updatedAt: row[5],
    unsettled: row[6] === 1,
    newest: row[7],
    segment: { ino: row[8], size: row[9], mtimeMs: row[10], ctimeMs: row[11] },
    bytes: row[12],
    told: row[13],
  }
}

function makeTable(database: Database): void {
  database.transaction(() => {
    database.exec(`DROP TABLE IF EXISTS log`)
    database.exec(`CREATE TABLE log (${columns}, PRIMARY KEY (id)) WITHOUT ROWID`)
    database.pragma(`user_version = ${schema}`)
  })()
}

function openFile(path: string): Database {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It is there, or SQLite will say why it cannot be.
  }
  return new Sqlite(path, { timeout: busyMs })
}

function removeFiles(path: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${end}`, { force: true })
}

function isSpoiled(error: unknown): boolean {
  const code = error instanceof Sqlite.SqliteError ? error.code : ''
  return /^SQLITE_(CORRUPT|NOTADB|ERROR|MISMATCH)/.test(code)
}
