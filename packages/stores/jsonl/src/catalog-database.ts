import { closeSync, openSync, rmSync } from 'node:fs'
import Sqlite, { type Database, type Statement } from 'better-sqlite3'
import type { Seen, SeenFiles } from './catalog-rows.ts'

/** What is kept of a log; `told` is JSON of a `Told`, without which it was only looked at. */
export interface CatalogRow extends SeenFiles {
  readonly told: string | null
}

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

  row(id: string): CatalogRow | undefined {
    const row = this.#statement(`SELECT ${rest} FROM log WHERE id = ?`).raw().get(id)
    return row === undefined ? undefined : rowOf(row as RestValues)
  }

  put(logs: readonly (readonly [seen: Seen, row: CatalogRow])[]): void {
    if (logs.length === 0) return
    const put = this.#statement(`INSERT OR REPLACE INTO log VALUES (${'?,'.repeat(13)}?)`)
    this.#change(() => {
      for (const [seen, row] of logs) put.run(...valuesOf(seen), ...restOf(row))
    })
    for (const [seen] of logs) this.#known.set(seen.id, seen)
  }

  /** Leaves nothing of these sessions in the file. */
  remove(ids: readonly string[]): void {
    if (ids.length === 0) return
    const remove = this.#statement('DELETE FROM log WHERE id = ?')
    this.#change(() => {
      for (const id of ids) remove.run(id)
    })
    for (const id of ids) this.#known.delete(id)
    this.#database.pragma('wal_checkpoint(TRUNCATE)')
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
    const rows = this.#statement(`SELECT ${first} FROM log`).raw().all() as Values[]
    this.#known = new Map(rows.map((row) => [row[0], seenOf(row)]))
  }

  /** What cannot be kept now is read again another time. */
  #change(work: () => void): void {
    try {
      this.#database.transaction(work)()
    } catch (error) {
      if (isSpoiled(error)) this.clear()
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

const first = 'id, log_ino, log_size, log_mtime, log_ctime, updated, unsettled'
const rest = 'newest, ino, size, mtime, ctime, bytes, told'

type Values = [string, number, number, number, number, number, number]
type RestValues = [string, number, number, number, number, number, string | null]

function valuesOf({ id, log, updatedAt, unsettled }: Seen): Values {
  return [id, log.ino, log.size, log.mtimeMs, log.ctimeMs, updatedAt, unsettled ? 1 : 0]
}

function seenOf([id, ino, size, mtimeMs, ctimeMs, updatedAt, unsettled]: Values): Seen {
  return { id, log: { ino, size, mtimeMs, ctimeMs }, updatedAt, unsettled: unsettled === 1 }
}

function restOf({ newest, segment, bytes, told }: CatalogRow): RestValues {
  const { ino, size, mtimeMs, ctimeMs } = segment
  return [newest, ino, size, mtimeMs, ctimeMs, bytes, told]
}

function rowOf([newest, ino, size, mtimeMs, ctimeMs, bytes, told]: RestValues): CatalogRow {
  return { newest, segment: { ino, size, mtimeMs, ctimeMs }, bytes, told }
}

function makeTable(database: Database): void {
  database.transaction(() => {
    database.exec(`DROP TABLE IF EXISTS log`)
    database.exec(`CREATE TABLE log (${first}, ${rest}, PRIMARY KEY (id)) WITHOUT ROWID`)
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
